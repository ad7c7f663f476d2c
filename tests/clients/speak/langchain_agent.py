"""An agent of LangGraph with LangChain's MCP adapter and a model that follows a script: buys, then tries to spend too much."""

import asyncio
import json
import sys
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.prebuilt import create_react_agent


class Script(BaseChatModel):
    """Makes one planned call each time it is asked, and says so at the end."""

    plan: list[Any]
    names: list[str] = []

    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **more):
        self.names = [tool.name for tool in tools]
        return self

    def _generate(self, messages, stop=None, run_manager=None, **more):
        done = sum(isinstance(message, ToolMessage) for message in messages)
        if done < len(self.plan):
            name, arguments = self.plan[done]
            call = {"name": name, "args": arguments, "id": f"call-{done}", "type": "tool_call"}
            message = AIMessage(content="", tool_calls=[call])
        else:
            message = AIMessage(content="done")
        return ChatResult(generations=[ChatGeneration(message=message)])


async def main():
    given = json.loads(sys.argv[1])
    client = MultiServerMCPClient({"bursar": {"transport": "stdio", **given["serve"]}})
    model = Script(plan=given["plan"])
    agent = create_react_agent(model, await client.get_tools())
    result = await agent.ainvoke({"messages": [("user", "buy what is planned")]})
    messages = result["messages"]
    heard = [words(message.content) for message in messages if isinstance(message, ToolMessage)]
    print(json.dumps({"step": "agent", "names": model.names, "heard": heard, "final": messages[-1].content}))


def words(content):
    """The text block of the answer, which is the structured content as JSON."""
    if isinstance(content, list):
        content = content[0]["text"]
    return json.loads(content)


asyncio.run(main())
