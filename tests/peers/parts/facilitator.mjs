// The real facilitator of the x402 project (core + evm, both protocol versions) behind its HTTP interface.
// It pays the gas with a key that it makes at start and that lives in this process only.

import express from "express";
import { createServer } from "node:http";
import { createTestClient, createWalletClient, http, nonceManager, publicActions } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/facilitator";
import { LOOPBACK, NETWORK } from "../lab/constants.mjs";
import { chainAt } from "../lab/token.mjs";
import { listen, runPart } from "./part.mjs";

runPart(async ({ rpc }) => {
  const account = privateKeyToAccount(generatePrivateKey(), { nonceManager });
  const setup = { chain: chainAt(rpc), transport: http(rpc), pollingInterval: 20 };
  await createTestClient({ mode: "anvil", ...setup }).setBalance({ address: account.address, value: 10n ** 20n });
  const client = createWalletClient({ account, ...setup }).extend(publicActions);
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    getCode: (call) => client.getCode(call),
    readContract: (call) => client.readContract({ ...call, args: call.args ?? [] }),
    verifyTypedData: (call) => client.verifyTypedData(call),
    writeContract: (call) => client.writeContract({ ...call, args: call.args ?? [] }),
    sendTransaction: (call) => client.sendTransaction(call),
    waitForTransactionReceipt: (call) => client.waitForTransactionReceipt(call),
  });
  const facilitator = new x402Facilitator()
    .register(NETWORK.v2, new ExactEvmScheme(signer))
    .registerV1(NETWORK.v1, new ExactEvmSchemeV1(signer));

  const app = express();
  app.use(express.json({ limit: "1mb" }));
  app.get("/supported", (_request, reply) => reply.json(facilitator.getSupported()));
  for (const verb of ["verify", "settle"]) {
    app.post(`/${verb}`, async ({ body }, reply) => {
      try {
        const answer = await facilitator[verb](body.paymentPayload, body.paymentRequirements);
        console.error(verb, body.paymentPayload?.x402Version, answer.invalidReason ?? answer.errorReason ?? "ok");
        reply.json(answer);
      } catch (fault) {
        console.error(verb, fault);
        reply.status(500).json({ error: String(fault.message ?? fault) });
      }
    });
  }
  const server = createServer(app);
  const port = await listen(server, LOOPBACK);
  return { ready: { url: `http://${LOOPBACK}:${port}`, port }, stop: () => server.closeAllConnections() };
});
