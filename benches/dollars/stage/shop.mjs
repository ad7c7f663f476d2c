// A seller of the bench over TLS on loopback. It keeps every payment that reaches it and cashes it by itself: it needs no
// facilitator and no consent. What it answers is up to the attack that runs it.

import { createServer } from "node:https";
import { LOOPBACK, NETWORK, TOKEN, USDC } from "../../../tests/peers/lab/constants.mjs";
import { CENTS } from "./chain.mjs";

/** What was sold; an answer without this word sold nothing. */
export const GOODS = "these-are-the-goods";

export class Shop {
  /** Every payment that was sent here: `{ authorization, signature, raw }`. */
  payments = [];
  requests = 0;
  #server;
  #sender;
  #cashing = Promise.resolve();

  /** `handle(request, shop)` is called for every request; `request` has `method`, `url`, `body`, `payment` and `reply`. */
  static async open({ host, tls, sender, version, handle }) {
    const shop = new Shop();
    Object.assign(shop, { host, version, handle });
    shop.#sender = sender;
    shop.#server = createServer({ cert: tls.certificate, key: tls.key, ALPNProtocols: ["http/1.1"] }, (request, reply) =>
      shop.#answer(request, reply).catch((fault) => {
        if (!reply.destroyed) reply.destroy(fault);
      }));
    shop.#server.on("tlsClientError", () => {});
    await new Promise((resolve, reject) => {
      shop.#server.once("error", reject);
      shop.#server.listen(0, LOOPBACK, resolve);
    });
    shop.port = shop.#server.address().port;
    shop.origin = `https://${host}:${shop.port}`;
    return shop;
  }

  /** One offer in the words of the buyer's version of x402. `words` are taken over as they are. */
  offer({ units, payTo, asset = USDC, seconds = 60, name = TOKEN.name, domain = TOKEN.version, url = this.origin, words = {} }) {
    const shared = { scheme: "exact", payTo, asset, maxTimeoutSeconds: seconds, extra: { name, version: domain } };
    const amount = String(units);
    if (this.version === 2) return { ...shared, network: NETWORK.v2, amount, ...words };
    return {
      ...shared, network: NETWORK.v1, maxAmountRequired: amount, resource: url,
      description: "goods", mimeType: "application/json", ...words,
    };
  }

  /** Answers 402 with these offers. */
  charge({ reply, url }, accepts, more = {}) {
    const resource = `${this.origin}${url}`;
    if (this.version === 2) {
      const terms = {
        x402Version: 2, error: "Payment required", accepts,
        resource: { url: resource, description: "goods", mimeType: "application/json" },
      };
      reply.writeHead(402, { "content-type": "application/json", "payment-required": base64(terms), ...more.headers });
      return reply.end(more.body ?? "{}");
    }
    const terms = { x402Version: 1, error: "X-PAYMENT header is required", accepts: accepts.map((offer) => ({ ...offer, resource })) };
    reply.writeHead(402, { "content-type": "application/json", ...more.headers });
    return reply.end(more.body ?? JSON.stringify(terms));
  }

  /** Delivers what was sold, and says that it was settled by `transaction`. */
  deliver({ reply, payment, url, method, body }, transaction, more = {}) {
    reply.writeHead(200, { "content-type": "application/json", ...this.settlement(payment, transaction), ...more.headers });
    reply.end(more.body ?? JSON.stringify({ goods: GOODS, url, method, body }));
  }

  /** The header that says how a settlement went. */
  settlement(payment, transaction, words = {}) {
    if (!payment) return {};
    const name = this.version === 2 ? "payment-response" : "x-payment-response";
    const network = this.version === 2 ? NETWORK.v2 : NETWORK.v1;
    const said = { success: transaction !== undefined, transaction: transaction ?? "", network, payer: payment.authorization?.from };
    return { [name]: base64({ ...said, ...words }) };
  }

  /** Cashes one payment at whichever token takes it. Resolves to the transaction, or undefined. */
  cash(payment) {
    const attempt = this.#cashing.then(async () => {
      for (const token of [USDC, CENTS.address]) {
        const { authorization, signature } = payment;
        const transaction = authorization && await this.#sender.cash(token, authorization, signature).catch(() => undefined);
        if (transaction) return transaction;
      }
      return undefined;
    });
    this.#cashing = attempt;
    return attempt;
  }

  /** Tries to cash everything that was ever sent here. */
  async cashAll() {
    for (const payment of this.payments) await this.cash(payment);
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request, reply) {
    this.requests += 1;
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const payment = paymentOf(request.headers);
    if (payment) this.payments.push(payment);
    const { method, url, headers } = request;
    const body = Buffer.concat(pieces).toString("utf8");
    await this.handle({ method, url, headers, body, payment, reply, socket: request.socket }, this);
  }
}

/** The payment that a request carries, of either version. */
function paymentOf(headers) {
  const value = headers["payment-signature"] ?? headers["x-payment"];
  if (value === undefined) return undefined;
  try {
    const raw = JSON.parse(Buffer.from(value, "base64").toString("utf8"));
    return { authorization: raw.payload?.authorization, signature: raw.payload?.signature, raw };
  } catch {
    return { raw: value };
  }
}

export function base64(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}
