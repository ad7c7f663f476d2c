// The buyer of the x402 project (@x402/fetch), both protocol versions. It proves that the lab works without
// bursar, and its recordings show how another buyer talks. It keeps no ledger and judges no payee.

import https from "node:https";
import { once } from "node:events";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { NETWORK } from "../lab/constants.mjs";
import { settlementOf } from "./payment.mjs";

export class BaselineBuyer {
  name = "baseline";
  clients = [{ era: "baseline" }];
  /** What this buyer cannot be asked for; cells that need it are left out. */
  canJudge = false;
  #pay;

  constructor({ address, authority }) {
    const account = privateKeyToAccount(generatePrivateKey());
    const client = new x402Client()
      .register(NETWORK.v2, new ExactEvmScheme(account))
      .registerV1(NETWORK.v1, new ExactEvmSchemeV1(account));
    this.payer = account.address;
    this.#pay = wrapFetchWithPayment(pinnedFetch(address, authority), client);
  }

  async start() {}

  async buy(_client, { url, method, body }) {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    try {
      const reply = await this.#pay(url, { method, body, headers });
      const text = await reply.text();
      return { outcome: outcomeOf(reply), text, ask: { url, method, body }, answer: { status: reply.status, text } };
    } catch (fault) {
      return { outcome: "refused", text: fault.message, ask: { url, method, body }, answer: { fault: fault.message } };
    }
  }

  /** It remembers nothing. */
  async nonces() {
    return undefined;
  }

  async stop() {}
}

function outcomeOf(reply) {
  if (reply.status === 402) return "unresolved"; // it signed, and was told no
  const headers = new Map([...reply.headers].map(([name, value]) => [name, [value]]));
  return settlementOf({ headers })?.success ? "paid" : "free";
}

/** A fetch that finds every name at one address and trusts one authority, so that no system file is touched. */
function pinnedFetch(address, ca) {
  return async (request) => {
    const outgoing = https.request(request.url, {
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ca,
      lookup: (_name, options, found) =>
        options.all ? found(null, [{ address, family: 4 }]) : found(null, address, 4),
    });
    outgoing.end(Buffer.from(await request.arrayBuffer()));
    const [incoming] = await once(outgoing, "response");
    const pieces = [];
    for await (const piece of incoming) pieces.push(piece);
    const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
    return new Response(Buffer.concat(pieces), { status: incoming.statusCode, headers });
  };
}
