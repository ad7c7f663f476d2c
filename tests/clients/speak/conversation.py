"""The conversation of conversation.mjs, for the clients in Python."""

import json
import sys

import anyio

PAYING = 5


def settings():
    return json.loads(sys.argv[1])


def say(step, **what):
    print(json.dumps({"step": step, **what}), flush=True)


async def converse(version, tools, call, asks):
    """`asks` are the arguments of each step. `call(name, args, heard)` returns the result as JSON data; it is cancelled by its scope."""
    say("tools", version=version, tools=await tools())
    say("status", **await call("payment_session_status", {}))
    say("quote", **await call("x402_quote", asks["quote"]))
    heard = []
    told = await call("x402_fetch", asks["buy"], heard.append)
    say("buy", **told, heard=heard)
    say("again", **await call("x402_fetch", asks["buy"]))
    say("refused", **await call("x402_fetch", asks["refused"]))
    say("nonsense", **await call("x402_fetch", asks["nonsense"]))

    with anyio.CancelScope() as scope:
        await call("x402_fetch", asks["slow"], lambda stage: scope.cancel() if stage >= PAYING else None)
    say("cancel", cut="cancelled" if scope.cancelled_caught else "answered")
    say("collected", **await call("x402_fetch", asks["slow"]))
