"""The Python x402 buyer over httpx as a process: settings as one JSON line, then one purchase a line."""

import asyncio
import json
import socket
import ssl
import sys

import httpx
from eth_account import Account
from x402 import x402Client
from x402.http.clients.httpx import x402AsyncTransport
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client

settings = json.loads(sys.stdin.readline())
signer = EthAccountSigner(Account.from_key(settings["key"]))
trusted = ssl.create_default_context(cadata=settings["authority"])

# Every name is on loopback here, so that no system file is touched.
found = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **words: found(settings["address"], *more, **words)


def price(offer):
    return int(getattr(offer, "amount", None) or offer.max_amount_required)


def client(expect):
    """As the README shows it; `strict` has every control that it offers against spending too much."""
    if not settings["strict"]:
        payer = x402Client()
        register_exact_evm_client(payer, signer, settings["network"])
        return payer
    payees = [payee.lower() for payee in settings["payees"]]
    payer = x402Client(payment_requirements_selector=lambda _version, offers: min(offers, key=price))
    register_exact_evm_client(payer, signer, settings["network"])
    cap = expect or settings["cap"]
    token = {"network": settings["network"], "asset": settings["usdc"], "max_amount_per_payment": cap}
    payer.set_spend_controls({"max_amount_per_payment": f"${int(settings['cap']) / 1e6}", "allowed_assets": [token]})
    payer.register_policy(lambda _version, offers: [offer for offer in offers if offer.pay_to.lower() in payees])
    limit = settings.get("approveOver")
    if limit:
        from x402 import AbortResult

        payer.on_before_payment_creation(
            lambda context: AbortResult(reason="nobody approved it")
            if price(context.selected_requirements) > int(limit)
            else None
        )
    return payer


async def purchase(ask):
    body = ask.get("body")
    headers = {} if body is None else {"content-type": "application/json"}
    try:
        transport = x402AsyncTransport(client(ask.get("expect")), httpx.AsyncHTTPTransport(verify=trusted))
        async with httpx.AsyncClient(transport=transport, timeout=60) as http:
            reply = await http.request(ask.get("method", "GET"), ask["url"], content=body, headers=headers)
            # What was sold stands at the beginning; the rest would only be carried over the pipe.
            return {"status": reply.status_code, "text": reply.text[:65536]}
    except Exception as fault:  # whatever it is, it is this purchase's answer
        return {"fault": True, "text": f"{type(fault).__name__}: {fault}"}


async def main():
    loop = asyncio.get_running_loop()
    before = None

    async def answer(ask, earlier):
        said = await purchase(ask)
        if earlier:
            await earlier
        print(json.dumps(said), flush=True)

    while line := await loop.run_in_executor(None, sys.stdin.readline):
        before = asyncio.ensure_future(answer(json.loads(line), before))


asyncio.run(main())
