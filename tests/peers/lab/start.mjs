// Starts the whole lab on free loopback ports and ends exactly what it started.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeCertificates } from "./certificates.mjs";
import { Part } from "./child.mjs";
import { CHAIN_ID, FOREIGN, GOODS, HOST, LOOPBACK, NETWORK, SELLERS, STRANGER, TEMPERS, USDC } from "./constants.mjs";

/**
 * Resolves to the running lab: `endpoints` (plain data, safe to write to a file), `tls` (the sellers'
 * certificate with its key, kept in memory) and `stop()`. If any part fails to start, the ones that did
 * are ended before the fault is thrown. `only` names the sellers that are started.
 */
export async function startLab({ logs, blockSeconds = 2, only = Object.keys(SELLERS) }) {
  mkdirSync(logs, { recursive: true });
  const tls = makeCertificates(HOST);
  const parts = [];
  const start = (name, settings, file = `${name}.mjs`) => {
    const script = fileURLToPath(new URL(`../parts/${file}`, import.meta.url));
    const part = new Part(name, script, settings, join(logs, `${name}.log`));
    parts.push(part);
    return part;
  };
  const stop = async () => {
    // The sellers go first, so that none asks a facilitator that is gone.
    for (const part of parts.splice(0).reverse()) await part.stop();
  };

  try {
    const chainPart = start("chain", { blockSeconds });
    const refuserPart = start("refuser", {});
    const chain = await chainPart.started(({ rpc }) => [new URL(rpc).port]);
    const facilitatorPart = start("facilitator", { rpc: chain.rpc });
    const refuser = await refuserPart.started(({ port }) => [port]);
    const facilitator = await facilitatorPart.started(({ port }) => [port]);

    const facilitators = Object.fromEntries(TEMPERS.map((temper) =>
      [temper, temper === "honest" ? facilitator.url : `${refuser.url}/${temper}`]));
    const shops = only.map((seller) => {
      const { version, payee, script } = SELLERS[seller];
      return [seller, start(`seller-${seller}`, { facilitators, tls, seller, version, payee, foreign: FOREIGN, goods: goods() }, script)];
    });
    const sellers = {};
    for (const [seller, part] of shops) {
      const { ports } = await part.started((ready) => Object.values(ready.ports));
      const { version, payee } = SELLERS[seller];
      sellers[seller] = { version, payee, network: NETWORK[version], ports };
    }
    const endpoints = {
      chain: { id: CHAIN_ID, rpc: chain.rpc, usdc: USDC },
      facilitators,
      host: HOST,
      address: LOOPBACK,
      stranger: STRANGER,
      sellers,
      pids: Object.fromEntries(parts.map(({ name, pid }) => [name, pid])),
    };
    return { endpoints, tls, stop };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

/** The goods for parts in other languages; the page for browsers is sold by the Express shops alone. */
function goods() {
  return GOODS.filter(({ path }) => path !== "/article").map(({ units, ...good }) => ({ ...good, units: String(units) }));
}
