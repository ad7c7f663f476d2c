// The seller of today on another framework: @x402/hono, protocol version 2, under node's own HTTPS server.

import { createServer } from "node:https";
import { getRequestListener } from "@hono/node-server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/hono";
import { Hono } from "hono";
import { LOOPBACK, NETWORK, goodsOf } from "../lab/constants.mjs";
import { priceOf } from "./price.mjs";
import { listen, runPart } from "./part.mjs";

runPart(async ({ facilitators, tls, seller, payee: own, goods }) => {
  const servers = [];
  const ports = {};
  for (const [temper, url] of Object.entries(facilitators)) {
    const server = createServer({ cert: tls.certificate, key: tls.key, ALPNProtocols: ["http/1.1"] },
      getRequestListener(shop(seller, own, goods, url).fetch));
    servers.push(server);
    ports[temper] = await listen(server, LOOPBACK);
  }
  return { ready: { ports }, stop: () => servers.forEach((server) => server.closeAllConnections()) };
});

function shop(seller, own, goods, facilitatorUrl) {
  const routes = goods.map(({ method, path, payee = own, ...good }) => [`${method} ${path}`, {
    accepts: { scheme: "exact", network: NETWORK.v2, price: priceOf(good), payTo: payee },
    description: `goods at ${path}`,
    mimeType: "application/json",
  }]);
  const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl }))
    .register(NETWORK.v2, new ExactEvmScheme());
  const app = new Hono();
  app.get("/free", (context) => context.json(goodsOf(seller, "/free")));
  app.use(paymentMiddleware(Object.fromEntries(routes), resources));
  for (const { method, path } of goods) {
    if (method === "GET") app.get(path, (context) => context.json(goodsOf(seller, path)));
  }
  app.post("/echo", async (context) => context.body(await context.req.arrayBuffer(), 200, {
    "content-type": context.req.header("content-type") ?? "application/octet-stream",
  }));
  return app;
}
