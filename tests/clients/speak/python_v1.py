"""The official client for Python, first generation, which only knows the handshake."""

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from conversation import converse, settings


async def main():
    given = settings()
    async with stdio_client(StdioServerParameters(**given["serve"])) as (read, write):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()

            async def tools():
                return [data(tool) for tool in (await session.list_tools()).tools]

            async def call(name, args, heard=None):
                async def progress(stage, _total, _message):
                    heard(stage)

                return data(await session.call_tool(name, args, progress_callback=progress if heard else None))

            await converse(hello.protocolVersion, tools, call, given["asks"])


def data(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


try:
    anyio.run(main)
except* anyio.BrokenResourceError:
    # This generation does not tell the server that a call is cancelled, so that its answer comes too, and where that is
    # while the library closes, the library breaks. Everything was said by then.
    pass
