"""The Python seller of yesterday: x402 1.0 with FastAPI, protocol version 1."""

from fastapi import FastAPI
from x402.fastapi.middleware import require_payment

import fastapi_goods
import uvicorn_shops


def app_for(told, facilitator_url):
    app = FastAPI()
    for good in told["goods"]:
        protect = require_payment(
            path=good["path"],
            price=_price(told, good),
            pay_to_address=good.get("payee", told["payee"]),
            network="base-sepolia",
            facilitator_config={"url": facilitator_url},
            description=f"goods at {good['path']}",
            mime_type="application/json",
        )
        app.middleware("http")(protect)
    fastapi_goods.add_goods(app, told)
    return app


def _price(told, good):
    if not good.get("foreign"):
        return good["price"]
    token = told["foreign"]
    domain = {"name": token["name"], "version": token["version"]}
    return {"amount": good["units"], "asset": {"address": token["address"], "decimals": token["decimals"], "eip712": domain}}


uvicorn_shops.run(app_for)
