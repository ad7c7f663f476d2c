// A buyer as @x402/fetch makes one around node's own fetch: connections kept, no rules and no ledger. Its packages are
// those of tests/peers. Each line of standard input, `buy PREFIX COUNT FLIGHT`, is one round; each answer is one line of
// JSON with the milliseconds of every purchase and of all of them. Usage: node fetch-buyer.mjs ORIGIN, with the seller's
// authority in NODE_EXTRA_CA_CERTS.

import dns from "node:dns";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const peers = createRequire(new URL("../../tests/peers/package.json", import.meta.url));
const { ExactEvmScheme } = peers("@x402/evm/exact/client");
const { wrapFetchWithPayment, x402Client } = peers("@x402/fetch");
const { generatePrivateKey, privateKeyToAccount } = peers("viem/accounts");

// Every name is on loopback here, so that no system file is touched.
dns.lookup = (_name, options, found) =>
  options.all ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4);

const [origin] = process.argv.slice(2);
const scheme = new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()));
const pay = wrapFetchWithPayment(fetch, new x402Client().register("eip155:84532", scheme));

async function one(path) {
  const began = performance.now();
  const reply = await pay(`${origin}${path}`);
  await reply.arrayBuffer();
  if (reply.status !== 200 || !reply.headers.has("payment-response")) throw new Error(`not paid: ${reply.status}`);
  return performance.now() - began;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [, prefix, count, flight] = line.split(" ");
  const began = performance.now();
  const ms = [];
  let next = 0;
  const hand = async () => {
    while (next < Number(count)) ms.push(await one(`${prefix}${next++}`));
  };
  await Promise.all(Array.from({ length: Number(flight) }, hand));
  console.log(JSON.stringify({ ms, total: performance.now() - began }));
}
