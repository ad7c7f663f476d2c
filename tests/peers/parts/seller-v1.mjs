// The seller of yesterday: x402-express, protocol version 1 (terms in the body), on the Express 4 that it
// was published for.

import { createRequire } from "node:module";
import { paymentMiddleware } from "x402-express";
import { FOREIGN, GOODS, NETWORK, PAYEE } from "../lab/constants.mjs";
import { runShop } from "./shop.mjs";

const express = createRequire(import.meta.resolve("x402-express"))("express");

runShop("v1", express, (app, facilitatorUrl) => {
  // This library takes one payee at a time, hence one layer for each.
  for (const payee of new Set(GOODS.map(payeeOf))) {
    const goods = GOODS.filter((good) => payeeOf(good) === payee);
    const routes = goods.map(({ method, path, ...good }) => [`${method} ${path}`, {
      price: priceOf(good),
      network: NETWORK.v1,
      config: { description: `goods at ${path}`, mimeType: "application/json" },
    }]);
    app.use(paymentMiddleware(payee, Object.fromEntries(routes), { url: facilitatorUrl }));
  }
});

function payeeOf({ payee = PAYEE.v1 }) {
  return payee;
}

/** In dollars, or in units of a token of which this library has to be told everything. */
function priceOf({ price, units, foreign }) {
  const { address, name, version, decimals } = FOREIGN;
  return foreign ? { amount: String(units), asset: { address, decimals, eip712: { name, version } } } : price;
}
