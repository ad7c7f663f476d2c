// A facilitator that says no, ours: under /verify-refused no payment is valid, under /settle-refused
// every payment is valid and none can be settled. It touches no chain.

import express from "express";
import { createServer } from "node:http";
import { LOOPBACK, NETWORK, TEMPERS } from "../lab/constants.mjs";
import { listen, runPart } from "./part.mjs";

const REASON = "insufficient_funds";

runPart(async () => {
  const kinds = [
    { x402Version: 2, scheme: "exact", network: NETWORK.v2 },
    { x402Version: 1, scheme: "exact", network: NETWORK.v1 },
  ];
  const payer = ({ body }) => body.paymentPayload?.payload?.authorization?.from;
  const app = express();
  app.use(express.json({ limit: "1mb" }));
  for (const temper of TEMPERS) {
    app.get(`/${temper}/supported`, (_request, reply) => reply.json({ kinds, extensions: [], signers: {} }));
  }
  app.post("/verify-refused/verify", (request, reply) =>
    reply.json({ isValid: false, invalidReason: REASON, payer: payer(request) }));
  app.post("/settle-refused/verify", (request, reply) =>
    reply.json({ isValid: true, payer: payer(request) }));
  app.post("/settle-refused/settle", (request, reply) =>
    reply.json({
      success: false,
      errorReason: REASON,
      transaction: "",
      network: request.body.paymentRequirements?.network,
      payer: payer(request),
    }));
  const server = createServer(app);
  const port = await listen(server, LOOPBACK);
  return { ready: { url: `http://${LOOPBACK}:${port}`, port }, stop: () => server.closeAllConnections() };
});
