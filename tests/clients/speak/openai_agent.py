"""An agent of the OpenAI Agents SDK with a model that follows a script: buys, then tries to spend too much."""

import asyncio
import json
import sys

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class Script(Model):
    """Makes one planned call each time it is asked, and says what it heard at the end."""

    def __init__(self, plan):
        self.plan = list(plan)
        self.heard = []

    async def get_response(self, system_instructions, input, model_settings, tools, *rest, **more):
        self.heard = [item["output"] for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        self.names = [tool.name for tool in tools]
        done = len(self.heard)
        if done < len(self.plan):
            name, arguments = self.plan[done]
            item = ResponseFunctionToolCall(
                id=f"item-{done}", call_id=f"call-{done}", type="function_call", name=name, arguments=json.dumps(arguments)
            )
        else:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            item = ResponseOutputMessage(id="said", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *rest, **more):
        raise NotImplementedError


async def main():
    given = json.loads(sys.argv[1])
    set_tracing_disabled(True)
    model = Script(given["plan"])
    async with MCPServerStdio(params=given["serve"], client_session_timeout_seconds=60, use_structured_content=True) as server:
        agent = Agent(name="buyer", model=model, mcp_servers=[server])
        result = await Runner.run(agent, "buy what is planned")
    print(json.dumps({"step": "agent", "names": model.names, "heard": [words(text) for text in model.heard], "final": result.final_output}))


def words(output):
    """The structured content that the SDK handed to the model, whichever way it wrapped it."""
    if isinstance(output, list):
        output = output[0].get("text")
    return json.loads(output)


asyncio.run(main())
