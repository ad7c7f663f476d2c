// Buys from every seller of the lab and checks the buyer, the wire and the chain.
//
//   node run.mjs --bursar PATH   through `bursar serve`, with MCP clients of both eras
//   node run.mjs --baseline      with the x402 project's own buyer, to prove the lab itself
//
// Ends with the line `N passed, N failed`; the exit code is 0 only if nothing failed.

import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { wayTo } from "./lab/programs.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const FUND_UNITS = 100_000_000n; // 100 USDC
const RECORDING_PORTS = 46_020; // so that recordings of different days name the same URLs

const USAGE = `usage: node run.mjs (--bursar PATH | --baseline) [options]

  --bursar PATH       the bursar binary to test
  --baseline          test the lab with @x402/fetch instead
  --only TEXT         only cells whose name or seller contains TEXT
  --sellers A,B       only these sellers (default: v2,v1,hono,fastapi,flask,python-v1,axum,axum-v1; without v2 no browsers and no chain cells)
  --json FILE         write the result as JSON
  --record DIR        write the raw bytes of every cell under DIR
  --front-ports N     first of the ports that buyers see (default: free ones; ${RECORDING_PORTS} with --record)
  --keep              leave bursar's sandbox in place and say where it is`;

const stack = []; // what must be ended, newest last
const interrupted = new Promise((_resolve, reject) => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.once(signal, () => reject(new Error(`ended by ${signal}`)));
  }
});
interrupted.catch(() => {});

const options = read(process.argv.slice(2));
let failed = 1;
try {
  failed = await Promise.race([run(options), interrupted]);
} catch (fault) {
  console.error(`✗ ${fault.message}`);
  console.log("0 passed, 1 failed");
} finally {
  while (stack.length > 0) await stack.pop()().catch((fault) => console.error(`✗ ${fault.message}`));
}
process.exit(failed === 0 ? 0 : 1);

async function run({ bursar, baseline, only, sellers, json, record: recordDir, "front-ports": frontPorts, keep }) {
  const { startLab } = await import("./lab/start.mjs");
  const { tokenAt } = await import("./lab/token.mjs");
  const { CELLS } = await import("./test/cells.mjs");
  const { tryCell } = await import("./test/trial.mjs");
  const { record } = await import("./test/recording.mjs");
  const report = await import("./test/report.mjs");

  const clock = performance.now();
  const { SELLERS } = await import("./lab/constants.mjs");
  const chosen = sellers ? sellers.split(",") : Object.keys(SELLERS);
  checkSellers(chosen, SELLERS);
  const starting = startLab({ logs: join(here, "run", "logs"), only: chosen });
  stack.push(async () => (await starting.catch(() => undefined))?.stop());
  const lab = await starting;
  const token = await tokenAt(lab.endpoints.chain.rpc);
  const fronts = await openFronts(lab, Number(frontPorts ?? (recordDir ? RECORDING_PORTS : 0)));
  const fund = (payer) => token.mint(payer, FUND_UNITS);
  const buyer = await (baseline ? startBaseline(lab, fund) : startBursar(resolve(bursar), lab, fronts, fund, keep));
  console.log(`the lab and the buyer were up after ${Math.round(performance.now() - clock)} ms`);

  const about = { versions: versions(), buyer: buyer.name };
  if (recordDir) {
    mkdirSync(recordDir, { recursive: true });
    if (buyer.rules) writeFileSync(join(recordDir, "rules.toml"), buyer.rules);
  }
  const results = [];
  const wanted = CELLS.filter(({ name, seller, judges }) =>
    chosen.includes(seller) && (buyer.canJudge || !judges) && (!only || name.includes(only) || seller.includes(only)));
  for (const { cell, era, askers } of tries(wanted, buyer)) {
    const front = fronts[cell.seller][cell.temper];
    const result = await tryCell({ cell, era, askers, buyer, front, token, sellers: lab.endpoints.sellers })
      .catch((fault) => ({ cell, era, ms: 0, faults: [fault.message], exchanges: [], authorizations: [] }));
    results.push(result);
    if (recordDir) record(recordDir, result, { ...about, recorded: new Date().toISOString() });
  }
  if (chosen.includes("v2") && buyer.canJudge && (!only || "browser".includes(only))) {
    const { tryBrowsers } = await import("./test/browser.mjs");
    results.push(...await tryBrowsers({ bursar: buyer.bursar, buyer, front: fronts.v2.honest, token, lab }));
  }
  const asksKeys = chosen.includes("v2") && buyer.canJudge && (!only || "keys".includes(only));
  const asksChain = chosen.includes("v2") && buyer.canJudge && (!only || "chain".includes(only));
  if (results.length === 0 && !asksChain && !asksKeys) throw new Error("no cell was tried; check --only");
  if (buyer.canJudge && results.length > 0) results.push(await ledgerKnowsAll(buyer, results));
  if (asksChain) {
    const { chainCells } = await import("./test/chain-cells.mjs");
    results.push(...await chainCells({ binary: resolve(bursar), lab, fronts, token, stack, keep }));
  }

  if (asksKeys) {
    const { keyCells } = await import("./test/key-cells.mjs");
    // A lab of its own: the chain's time is moved in both.
    const starting = startLab({ logs: join(here, "run", "logs-keys"), only: ["v2"] });
    stack.push(async () => (await starting.catch(() => undefined))?.stop());
    const own = await starting;
    const ownFronts = await openFronts(own, 0);
    const ownToken = await tokenAt(own.endpoints.chain.rpc);
    results.push(...await keyCells({ binary: resolve(bursar), lab: own, fronts: ownFronts, token: ownToken, stack, keep }));
  }

  report.show(results);
  report.matrix(results, chosen);
  if (json) report.write(json, results, about);
  return report.close(results);
}

/** Every seller is known, and what it is run with is there. */
function checkSellers(chosen, known) {
  for (const seller of chosen) {
    if (!known[seller]) throw new Error(`there is no seller \`${seller}\`; there are ${Object.keys(known).join(", ")}`);
    const way = wayTo(known[seller].script);
    if (way) throw new Error(`what the seller \`${seller}\` is run with is not there; run \`${way}\`, or leave it out with --sellers`);
  }
}

/** Each cell with each client; a shared cell once, with all of them. */
function tries(cells, { clients }) {
  const own = clients.flatMap((client) =>
    cells.filter(({ shared }) => !shared).map((cell) => ({ cell, era: client.era, askers: [client] })));
  const shared = cells.filter((cell) => cell.shared).map((cell) => ({ cell, era: "both", askers: clients }));
  return [...own, ...shared];
}

async function openFronts({ endpoints, tls }, firstPort) {
  const { Front } = await import("./test/front.mjs");
  const fronts = {};
  let port = firstPort;
  for (const [version, { ports }] of Object.entries(endpoints.sellers)) {
    fronts[version] = {};
    for (const [temper, target] of Object.entries(ports)) {
      const front = await Front.open({
        host: endpoints.host,
        address: endpoints.address,
        port: firstPort === 0 ? 0 : port++,
        target,
        certificates: tls,
      });
      stack.push(async () => front.close());
      fronts[version][temper] = front;
    }
  }
  return fronts;
}

async function startBaseline({ endpoints, tls }, fund) {
  const { BaselineBuyer } = await import("./test/buyer-baseline.mjs");
  const buyer = new BaselineBuyer({ address: endpoints.address, authority: tls.authority });
  await fund(buyer.payer);
  return buyer;
}

async function startBursar(binary, { endpoints, tls }, fronts, fund, keep) {
  const { Bursar } = await import("./test/bursar.mjs");
  const { BursarBuyer } = await import("./test/buyer-bursar.mjs");
  const bursar = new Bursar(binary);
  if (keep) console.log(`the sandbox stays in ${bursar.sandbox}`);
  const buyer = new BursarBuyer(bursar);
  stack.push(() => buyer.stop({ keep }));
  await buyer.start({
    authority: tls.authority,
    host: endpoints.host,
    origins: Object.values(fronts).flatMap((tempers) => Object.values(tempers).map(({ origin }) => origin)),
    recipients: Object.values(endpoints.sellers).map(({ payee }) => payee),
  }, fund);
  return buyer;
}

/** The last cell: the ledger knows each authorization that went over the wire, and no other. */
async function ledgerKnowsAll(buyer, results) {
  const sent = results.flatMap(({ authorizations }) => authorizations.map(({ nonce }) => nonce.toLowerCase()));
  const cell = { name: "the ledger knows every authorization", seller: "–", want: String(new Set(sent).size) };
  const started = performance.now();
  const faults = [];
  let known = [];
  try {
    known = await buyer.nonces();
    for (const nonce of new Set(sent)) if (!known.includes(nonce)) faults.push(`the ledger does not know ${nonce}`);
    for (const nonce of known) if (!sent.includes(nonce)) faults.push(`${nonce} was never on the wire`);
  } catch (fault) {
    faults.push(fault.message);
  }
  const ms = Math.round(performance.now() - started);
  return { cell, era: "both", got: String(known.length), ms, faults };
}

function versions() {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const pinned = Object.entries({ ...dependencies, ...optionalDependencies });
  return Object.fromEntries(pinned.filter(([, version]) => !version.startsWith("file:")));
}

function read(args) {
  const wrong = (sentence) => {
    console.error(`${sentence}\n\n${USAGE}`);
    process.exit(2);
  };
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        bursar: { type: "string" },
        baseline: { type: "boolean", default: false },
        only: { type: "string" },
        sellers: { type: "string" },
        json: { type: "string" },
        record: { type: "string" },
        "front-ports": { type: "string" },
        keep: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (fault) {
    wrong(fault.message);
  }
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  if (Boolean(values.bursar) === values.baseline) wrong("say which buyer: either --bursar PATH or --baseline");
  if (values["front-ports"] !== undefined && !/^\d{4,5}$/.test(values["front-ports"])) {
    wrong("--front-ports takes a port number, for example 46020");
  }
  if (!existsSync(join(here, "node_modules", "viem"))) {
    wrong(`the peers are not installed; run \`npm ci --ignore-scripts\` in ${here}`);
  }
  if (values.bursar) {
    try {
      accessSync(values.bursar, constants.X_OK);
    } catch {
      wrong(`\`${values.bursar}\` is not a program that can be run; build it with \`cargo build\``);
    }
  }
  return values;
}
