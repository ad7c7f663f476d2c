"""What the FastAPI shops of both generations sell, without the library that protects it."""

from fastapi import Request, Response

import part


def add_goods(app, told):
    seller = told["seller"]

    @app.get("/free")
    async def free():
        return part.goods_of(seller, "/free")

    for good in told["goods"]:
        if good["method"] == "GET":
            app.add_api_route(good["path"], _seller_of(seller, good["path"]))

    @app.post("/echo")
    async def echo(request: Request):
        kind = request.headers.get("content-type", "application/octet-stream")
        return Response(await request.body(), headers={"content-type": kind})


def _seller_of(seller, path):
    async def sell():
        return part.goods_of(seller, path)

    return sell
