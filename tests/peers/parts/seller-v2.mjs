// The seller of today: @x402/express, protocol version 2 (terms in a header).

import express from "express";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import { GOODS, NETWORK, PAYEE } from "../lab/constants.mjs";
import { priceOf } from "./price.mjs";
import { runShop } from "./shop.mjs";

runShop("v2", express, (app, facilitatorUrl) => {
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl }))
    .register(NETWORK.v2, new ExactEvmScheme());
  const routes = GOODS.map(({ method, path, payee = PAYEE.v2, ...good }) => [`${method} ${path}`, {
    accepts: { scheme: "exact", network: NETWORK.v2, price: priceOf(good), payTo: payee },
    description: `goods at ${path}`,
    mimeType: "application/json",
  }]);
  app.use(paymentMiddleware(Object.fromEntries(routes), server));
});
