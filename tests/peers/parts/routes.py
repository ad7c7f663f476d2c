"""The goods as the Python sellers of the second generation take them."""

from x402.schemas import AssetAmount

NETWORK = "eip155:84532"


def routes(told):
    return {f"{good['method']} {good['path']}": _route(told, good) for good in told["goods"]}


def _route(told, good):
    price = good["price"]
    if good.get("foreign"):
        token = told["foreign"]
        words = {"name": token["name"], "version": token["version"]}
        price = AssetAmount(amount=good["units"], asset=token["address"], extra=words)
    accepts = {"scheme": "exact", "payTo": good.get("payee", told["payee"]), "price": price, "network": NETWORK}
    return {"accepts": accepts, "description": f"goods at {good['path']}", "mimeType": "application/json"}
