// Dollars lost: every attack against every buyer, and an honest corpus, counted on a local chain.
//
//   node benches/dollars/run.mjs --bursar PATH           everything that can run here; tables on standard output
//   node benches/dollars/run.mjs --bursar PATH --write   and docs/dollars-lost.md with its chart
//   node benches/dollars/run.mjs --from A,B              writes that page anew from the JSON of earlier runs
//   node benches/dollars/run.mjs --bursar PATH --quick   bursar alone, a handful of attacks: what tests/all runs
//
// The exit code is 0 only if bursar lost nothing, refused nothing honest and hung nowhere. 2 is wrong usage.

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { makeCertificates } from "../../tests/peers/lab/certificates.mjs";
import { ATTACKS, QUICK } from "./attacks/index.mjs";
import { BENIGN, playBenign } from "./benign.mjs";
import { buyers } from "./buyers/index.mjs";
import { Chain } from "./stage/chain.mjs";
import { HONEST_HOST, Stage, THIEF_HOST } from "./stage/stage.mjs";
import { chart } from "./chart.mjs";
import { page, told, verdict } from "./table.mjs";

const QUICK_BENIGN = ["half a cent, GET", "POST with a JSON body", "exactly the cap"];

const { values: options } = parseArgs({
  options: {
    bursar: { type: "string" },
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    attack: { type: "string" },
    buyer: { type: "string" },
    json: { type: "string" },
    from: { type: "string" },
    only: { type: "string" },
    lanes: { type: "string", default: "3" },
  },
});
if (options.from) {
  write(gathered(options.from.split(",")));
  process.exit(0);
}
if (!options.bursar) {
  console.error("usage: node benches/dollars/run.mjs --bursar PATH [--quick] [--write] [--attack TEXT] [--buyer ID] [--json FILE] [--only attacks|honest] [--lanes N]");
  process.exit(2);
}

const tls = makeCertificates(HONEST_HOST, THIEF_HOST);
const everyone = buyers({ bursar: resolve(options.bursar) })
  .filter(({ id }) => (options.quick ? id === "bursar" : !options.buyer || id.startsWith(options.buyer)));
const named = ({ name }) => !options.attack || options.attack.split(",").some((text) => name.includes(text));
const attacks = options.only === "honest" ? [] : (options.quick ? QUICK : ATTACKS).filter(named);
const benign = options.only === "attacks" ? [] : BENIGN.filter((one) => named(one) && (!options.quick || QUICK_BENIGN.includes(one.name)));
const able = everyone.filter(({ missing }) => !missing);
const results = [];
const honest = [];
const outcome = { everyone, attacks, benign, results, honest };

const chain = await Chain.start();
let code = 1;
try {
  const left = [...able];
  const lane = async () => {
    for (let buyer = left.shift(); buyer; buyer = left.shift()) {
      for (const attack of attacks) await attacked(attack, buyer, chain);
      if (benign.length > 0) await served(buyer);
    }
  };
  await Promise.all(Array.from({ length: Number(options.lanes) }, lane));
  if (options.write) write(outcome);
  const faults = verdict(outcome);
  for (const fault of faults) console.log(`✗ ${fault}`);
  console.log(`${results.length} attacks and ${honest.length} honest purchases played; ${faults.length} faults of bursar`);
  code = faults.length === 0 ? 0 : 1;
} finally {
  await chain.stop();
}
process.exit(code);

/** One attack against one buyer, told in a line. */
async function attacked(attack, { id, promises, make }, usual) {
  const buyer = make();
  if (attack.speaks && !attack.speaks.includes(buyer.speaks)) return;
  const own = attack.ownChain ? await Chain.start() : usual;
  const stage = new Stage({ chain: own, tls, buyer });
  const began = performance.now();
  let counted = {};
  try {
    await attack.play(stage);
    counted = await stage.count();
  } catch (fault) {
    counted = { broken: fault.message };
  } finally {
    await stage.close();
    if (attack.ownChain) await own.stop();
  }
  const inside = attack.needs.some((need) => promises.includes(need));
  const result = { buyer: id, attack: attack.name, inside, ...counted, peak: buyer.peak, ms: Math.round(performance.now() - began) };
  results.push(result);
  console.log(told(result));
  keep();
}

/** All honest purchases of one buyer, from one wallet. */
async function served({ id, make }) {
  const buyer = make();
  const stage = new Stage({ chain, tls, buyer });
  let all = benign.map(({ name }) => ({ name, broken: "not played" }));
  try {
    all = await playBenign(benign, stage);
  } catch (fault) {
    all = benign.map(({ name }) => ({ name, broken: fault.message }));
  } finally {
    await stage.close();
  }
  for (const one of all) {
    honest.push({ buyer: id, ...one, peak: buyer.peak });
    if (!one.sold || !one.paid) console.log(`${id}: honest "${one.name}" ${one.sold ? "sold" : "not sold"}, ${one.paid ? "paid" : "not paid right"}: ${one.text ?? one.broken}`);
  }
  keep();
  console.log(`${id}: ${all.filter(({ sold, paid }) => sold && paid).length} of ${all.length} honest purchases`);
}

/** As JSON, after every step, so that what was played outlives a run that does not end. */
function keep() {
  const plain = (_key, held) => (typeof held === "bigint" ? String(held) : held);
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ results, honest }, plain, 1)}\n`);
}

function write(outcome) {
  writeFileSync(new URL("../../docs/dollars-lost.md", import.meta.url), page(outcome));
  writeFileSync(new URL("../../docs/dollars-lost.svg", import.meta.url), chart(outcome));
}

/** What earlier runs wrote as JSON, together; of two plays of one thing by one buyer the one of the later file counts. */
function gathered(files) {
  const results = new Map();
  const honest = new Map();
  for (const file of files) {
    const said = JSON.parse(readFileSync(file, "utf8"));
    for (const one of said.results) {
      const { lost, left } = one;
      results.set(`${one.buyer} ${one.attack}`, { ...one, lost: BigInt(lost ?? 0), left: BigInt(left ?? 0) });
    }
    for (const one of said.honest) honest.set(`${one.buyer} ${one.name}`, one);
  }
  const played = new Set([...results.values()].map(({ buyer }) => buyer));
  const everyone = buyers({ bursar: "" })
    .map((buyer) => ({ ...buyer, missing: played.has(buyer.id) ? undefined : buyer.missing ?? "it was not played" }));
  return { everyone, attacks: ATTACKS, benign: BENIGN, results: [...results.values()], honest: [...honest.values()] };
}
