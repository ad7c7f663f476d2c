// Stands between a buyer and one seller, both over TLS, passes every byte on unchanged and keeps a copy.

import tls from "node:tls";
import { once } from "node:events";
import { cut } from "./messages.mjs";

export class Front {
  #server;
  #connections = [];
  #sockets = new Set();

  /** Listens on `port` (0: a free one) and passes on to `target`, a seller's port. */
  static async open({ host, address, port, target, certificates }) {
    const front = new Front();
    const identity = { cert: certificates.certificate, key: certificates.key, ALPNProtocols: ["http/1.1"] };
    front.#server = tls.createServer(identity, (buyer) => {
      const seller = tls.connect({ host: address, port: target, servername: host, ca: certificates.authority });
      front.#join(buyer, seller);
    });
    front.#server.on("tlsClientError", () => {});
    try {
      front.#server.listen(port, address);
      await once(front.#server, "listening");
    } catch (fault) {
      if (fault.code !== "EADDRINUSE") throw fault;
      throw new Error(`port ${port} is taken; choose others with --front-ports`);
    }
    front.origin = `https://${host}:${front.#server.address().port}`;
    return front;
  }

  /**
   * What went over since the last time this was asked, connection by connection:
   * `{ request, reply }`, where `reply` is missing if none came.
   */
  takeExchanges() {
    const exchanges = this.#connections.flatMap(({ sent, answered, ended }) => {
      const requests = cut(Buffer.concat(sent), ended).messages;
      const replies = cut(Buffer.concat(answered), ended).messages;
      return requests.map((request, index) => ({ request, reply: replies[index] }));
    });
    this.#connections = this.#connections.filter(({ ended }) => !ended);
    for (const connection of this.#connections) {
      connection.sent = [];
      connection.answered = [];
    }
    return exchanges;
  }

  close() {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #join(buyer, seller) {
    const connection = { sent: [], answered: [], ended: false };
    this.#connections.push(connection);
    buyer.on("data", (bytes) => {
      connection.sent.push(bytes);
      seller.write(bytes);
    });
    seller.on("data", (bytes) => {
      connection.answered.push(bytes);
      buyer.write(bytes);
    });
    for (const [here, there] of [[buyer, seller], [seller, buyer]]) {
      this.#sockets.add(here);
      here.on("end", () => there.end());
      here.on("error", () => there.destroy());
      here.on("close", () => {
        connection.ended = true;
        there.end();
        this.#sockets.delete(here);
      });
    }
  }
}
