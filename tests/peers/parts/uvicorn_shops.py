"""One uvicorn server over TLS for each facilitator that a seller trusts."""

import asyncio

import uvicorn

import part


def run(app_for):
    """`app_for(told, facilitator_url)` is the ASGI application of one shop."""
    told = part.settings()
    asyncio.run(_serve(told, app_for))


async def _serve(told, app_for):
    servers, ports = [], {}
    with part.certificate(told["tls"]) as (certificate, key):
        for temper, url in told["facilitators"].items():
            words = {"ssl_certfile": certificate, "ssl_keyfile": key, "log_level": "warning", "lifespan": "off"}
            config = uvicorn.Config(app_for(told, url), **words)
            config.load()
            listening = part.listener()
            ports[temper] = listening.getsockname()[1]
            servers.append(uvicorn.Server(config).serve(sockets=[listening]))
    part.ready(ports=ports)
    await asyncio.gather(*servers)
