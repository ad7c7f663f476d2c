// What the two sellers have in common: their goods, and one TLS server for each facilitator they trust.

import { createServer } from "node:https";
import { GOODS, LOOPBACK, articleOf, goodsOf } from "../lab/constants.mjs";
import { listen, runPart } from "./part.mjs";

/**
 * Runs a seller. `protect(app, facilitatorUrl)` puts the library under test in front of the goods;
 * `express` is the web framework that this library was published for.
 */
export function runShop(seller, express, protect) {
  runPart(async ({ facilitators, tls }) => {
    const servers = [];
    const ports = {};
    for (const [temper, url] of Object.entries(facilitators)) {
      const app = express();
      app.get("/free", (_request, reply) => reply.json(goodsOf(seller, "/free")));
      protect(app, url);
      for (const { method, path } of GOODS) {
        if (path === "/article") app.get(path, (_request, reply) => reply.type("html").send(articleOf(seller)));
        else if (method === "GET") app.get(path, (_request, reply) => reply.json(goodsOf(seller, path)));
      }
      app.post("/echo", express.raw({ type: () => true, limit: "64kb" }), (request, reply) =>
        reply.type(request.get("content-type") ?? "application/octet-stream").send(request.body));
      const server = createServer({ cert: tls.certificate, key: tls.key, ALPNProtocols: ["http/1.1"] }, app);
      servers.push(server);
      ports[temper] = await listen(server, LOOPBACK);
    }
    return { ready: { ports }, stop: () => servers.forEach((server) => server.closeAllConnections()) };
  });
}
