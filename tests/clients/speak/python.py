"""The official client for Python, second generation, in the era that the settings name."""

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from conversation import converse, settings


async def main():
    given = settings()
    mode = "auto" if given["era"] == "modern" else "legacy"
    async with Client(StdioServerParameters(**given["serve"]), mode=mode) as client:

        async def tools():
            return [data(tool) for tool in (await client.list_tools()).tools]

        async def call(name, args, heard=None):
            async def progress(stage, _total, _message):
                heard(stage)

            return data(await client.call_tool(name, args, progress_callback=progress if heard else None))

        await converse(client.protocol_version, tools, call, given["asks"])


def data(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


anyio.run(main)
