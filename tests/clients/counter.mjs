// Stands before the seller, notes for whom each payment came, and holds the answer to a payment for `/normal` until its
// buyer has said that it does not wait any more: a call can be cancelled in the middle of paying, whatever the seller's speed.

import { once } from "node:events";
import { createServer, request as ask } from "node:https";

/** How long an answer is held at most, for a buyer that cannot cancel. */
const HELD_AT_MOST_MS = 60_000;

export class Counter {
  #server;
  #released = new Map();
  /** `{ for, nonce }` of each request that carried a payment. */
  payments = [];

  /** Listens on a free port and passes on to `target`, a seller's port. */
  static async open({ host, address, target, certificates }) {
    const counter = new Counter();
    const identity = { cert: certificates.certificate, key: certificates.key, ALPNProtocols: ["http/1.1"] };
    counter.#server = createServer(identity, (request, reply) => {
      const { method, url, headers } = request;
      const buyer = new URL(url, `https://${host}`).searchParams.get("for");
      const payment = headers["payment-signature"];
      if (payment) counter.payments.push({ for: buyer, nonce: nonceOf(payment) });
      const held = payment && url.startsWith("/normal") ? counter.#until(buyer) : undefined;
      const passed = ask({ host: address, port: target, servername: host, ca: certificates.authority, agent: false, method, path: url, headers });
      passed.on("response", async (answer) => {
        await held;
        reply.writeHead(answer.statusCode, answer.headers);
        answer.pipe(reply);
      });
      passed.on("error", () => reply.destroy());
      request.pipe(passed);
    });
    counter.#server.listen(0, address);
    await once(counter.#server, "listening");
    counter.origin = `https://${host}:${counter.#server.address().port}`;
    return counter;
  }

  /** What is held for `buyer`, now or later, may go. */
  release(buyer) {
    this.#entry(buyer).go();
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #until(buyer) {
    const { gone, go } = this.#entry(buyer);
    setTimeout(go, HELD_AT_MOST_MS).unref();
    return gone;
  }

  #entry(buyer) {
    if (!this.#released.has(buyer)) {
      let go;
      const gone = new Promise((resolve) => (go = resolve));
      this.#released.set(buyer, { gone, go });
    }
    return this.#released.get(buyer);
  }
}

function nonceOf(payment) {
  return JSON.parse(Buffer.from(payment, "base64").toString("utf8")).payload.authorization.nonce;
}
