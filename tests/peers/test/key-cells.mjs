// Another key and money moved out of an account, on the real token: a key that is replaced, funded, used, and whose old
// account is emptied; a sweep that another account submits, and one that the real facilitator submits. In a lab of its own,
// because the chain's time is moved.

import { isDeepStrictEqual } from "node:util";
import { Bursar } from "./bursar.mjs";
import { BursarBuyer } from "./buyer-bursar.mjs";
import { openEndpoint } from "./liar.mjs";
import { NETWORK } from "../lab/constants.mjs";

const FUND_UNITS = 2_000_000n; // 2 USDC
const SELLER = "v2";
const SAFE = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";

/** Resolves to results like those of the other cells. `stack` takes what has to be ended. */
export async function keyCells({ binary, lab, fronts, token, stack, keep }) {
  const { endpoints, tls } = lab;
  const rpc = await openEndpoint(endpoints.chain.rpc);
  stack.push(async () => rpc.close());
  const bursar = new Bursar(binary);
  const buyer = new BursarBuyer(bursar);
  stack.push(() => buyer.stop({ keep }));
  await buyer.start({
    authority: tls.authority,
    host: endpoints.host,
    origins: Object.values(fronts[SELLER]).map(({ origin }) => origin),
    recipients: [endpoints.sellers[SELLER].payee],
    names: ["rpc0.test", "facilitator.test"],
    tables: `
[[chain]]
network = ${JSON.stringify(NETWORK.v2)}
rpc = ["http://rpc0.test:${rpc.port}/"]
balance = "off"
poll = "1h"
`,
  }, (payer) => token.mint(payer, FUND_UNITS));

  const results = [];
  const cell = async (name, want, check) => {
    const started = performance.now();
    const faults = [];
    const same = (what, got, meant) => {
      if (!isDeepStrictEqual(got, meant)) faults.push(`${what}: ${show(got)}, not ${show(meant)}`);
    };
    await check(same).catch((fault) => faults.push(fault.message));
    const ms = Math.round(performance.now() - started);
    results.push({ cell: { name, seller: SELLER, want }, era: "modern", got: faults.length === 0 ? want : "–", ms, faults });
  };
  /** Which sweeps a chain shows as moved; some blocks more are made for one that is not in a final block yet. */
  const swept = async () => {
    for (let left = 5; left > 0; left -= 1) {
      const found = (await bursar.reconcile()).swept;
      if (found.length > 0) return found;
      await token.pass(1);
    }
    return [];
  };
  let bought = 0;
  const buy = async () => {
    const url = `${fronts[SELLER].honest.origin}/cheap?for=keys-${bought++}`;
    return (await buyer.buy(buyer.clients[0], { url, method: "GET" })).answer.structuredContent;
  };
  const old = buyer.payer;

  await cell("keys: another key, funded and used, and the old account emptied", "moved", async (same) => {
    same("outcome with the first key", (await buy()).outcome, "paid");
    // A seller's word is no proof: until a chain shows it, the payment could still be taken, and stays out of a sweep.
    await token.pass(100); // and a hundred blocks, so that what was before is final
    same("proved of that", (await bursar.reconcile()).proved.length, 1);
    const left = await token.balance(old);
    const next = await bursar.rotate();
    same("another account pays", [next !== old, (await bursar.status()).payer], [true, next]);
    await token.mint(next, FUND_UNITS);
    same("outcome", (await buy()).outcome, "paid");
    const before = await token.balance(next);
    const paper = await bursar.sweep(["--from", old, "--to", next, "--amount", `${Number(left) / 1e6} USD`]);
    await token.submit(paper.transaction);
    same("moved", [await token.balance(next) - before, await token.balance(old)], [left, 0n]);
    same("outcome while that is live", (await buy()).outcome, "paid");
    await token.pass(1);
    same("proved", await swept(), [[paper.id, "paid"]]);
  });
  const { payer } = await bursar.status();

  await cell("keys: a sweep that another account submits", "moved", async (same) => {
    const paper = await bursar.sweep(["--to", SAFE, "--amount", "0.75 USD"]);
    same("what it says it moves", [paper.from, paper.to, paper.value], [payer, SAFE, "750000"]);
    same("outcome while it is live", (await buy()).outcome, "refused");
    const before = [await token.balance(payer), await token.balance(SAFE)];
    await token.submit(paper.transaction);
    same("moved", [before[0] - await token.balance(payer), await token.balance(SAFE) - before[1]], [750_000n, 750_000n]);
    await token.pass(1);
    same("proved", await swept(), [[paper.id, "paid"]]);
    await bursar.thaw();
    same("frozen after it", (await bursar.status()).frozen, null);
  });

  await cell("keys: all that is free, by the real facilitator", "moved", async (same) => {
    const { port } = new URL(endpoints.facilitators.honest);
    const [has, safe] = [await token.balance(payer), await token.balance(SAFE)];
    const paper = await bursar.sweep(["--to", SAFE, "--facilitator", `http://facilitator.test:${port}`]);
    const moved = BigInt(paper.value);
    same("less what was signed before", moved > 0n && moved <= has, true);
    same("moved", await token.balance(SAFE) - safe, moved);
    await token.pass(1);
    same("proved", await swept(), [[paper.id, "paid"]]);
  });
  return results;
}

function show(value) {
  return JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? `${member}` : member));
}
