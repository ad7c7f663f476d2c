"""The Python seller of today: x402 with FastAPI, protocol version 2."""

from fastapi import FastAPI
from x402 import x402ResourceServer
from x402.http import FacilitatorConfig, HTTPFacilitatorClient
from x402.http.middleware.fastapi import payment_middleware
from x402.mechanisms.evm.exact import ExactEvmServerScheme

import fastapi_goods
import routes
import uvicorn_shops


def app_for(told, facilitator_url):
    app = FastAPI()
    server = x402ResourceServer(HTTPFacilitatorClient(FacilitatorConfig(url=facilitator_url)))
    server.register(routes.NETWORK, ExactEvmServerScheme())
    protect = payment_middleware(routes.routes(told), server)

    @app.middleware("http")
    async def paid(request, call_next):
        return await protect(request, call_next)

    fastapi_goods.add_goods(app, told)
    return app


uvicorn_shops.run(app_for)
