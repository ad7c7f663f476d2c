// Has official clients and agents' frameworks talk to `bursar serve` and buy from a real seller on a local chain:
//
//   node tests/clients/run.mjs --bursar target/debug/bursar --rmcp target/debug/examples/rmcp_client [--only TEXT]
//
// Needs tests/peers and this folder installed (npm), and the two Python environments that `tests/all clients` makes. Ends with
// the line `N passed, N failed`.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { GOODS, goodsOf } from "../peers/lab/constants.mjs";
import { startLab } from "../peers/lab/start.mjs";
import { tokenAt } from "../peers/lab/token.mjs";
import { Bursar } from "../peers/test/bursar.mjs";
import { Check, agent, conversation } from "./checks.mjs";
import { Counter } from "./counter.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = resolve(here, "../..");
const WITHIN_MS = 300_000;
/** How many talk at the same time. */
const AT_ONCE = 4;
const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";

const { values: options } = parseArgs({
  options: { bursar: { type: "string" }, rmcp: { type: "string" }, only: { type: "string", default: "" } },
});
if (!options.bursar || !options.rmcp) {
  console.error("usage: node tests/clients/run.mjs --bursar PROGRAM --rmcp PROGRAM [--only TEXT]");
  process.exit(2);
}

const speak = (name) => join(here, "speak", name);
const python = (environment) => join(root, "target/tests", environment, "bin/python");
const typescript = (script) => [process.execPath, speak(script)];
/** Who talks: how it is started, and for a client the era and the revision that it must come to. */
const SPEAKERS = [
  { name: "TypeScript client 2, modern", start: typescript("typescript.mjs"), era: "modern", version: MODERN },
  { name: "TypeScript client 2, legacy", start: typescript("typescript.mjs"), era: "legacy", version: LEGACY },
  { name: "TypeScript SDK 1", start: typescript("typescript-v1.mjs"), era: "legacy", version: LEGACY },
  { name: "Python client 2, modern", start: [python("python"), speak("python.py")], era: "modern", version: MODERN },
  { name: "Python client 2, legacy", start: [python("python"), speak("python.py")], era: "legacy", version: LEGACY },
  { name: "Python client 1", start: [python("langchain"), speak("python_v1.py")], era: "legacy", version: LEGACY },
  { name: "rmcp, modern", start: [resolve(options.rmcp)], era: "modern", version: MODERN },
  { name: "rmcp, legacy", start: [resolve(options.rmcp)], era: "legacy", version: LEGACY },
  { name: "OpenAI Agents SDK", start: [python("python"), speak("openai_agent.py")], isAgent: true },
  { name: "LangGraph with LangChain's MCP adapter", start: [python("langchain"), speak("langchain_agent.py")], isAgent: true },
].filter(({ name }) => name.includes(options.only));

const stack = [];
const tally = { passed: 0, failed: 0 };
try {
  await all();
} catch (fault) {
  tally.failed += 1;
  console.log(`✗ ${fault.message}`);
} finally {
  while (stack.length > 0) await stack.pop()().catch((fault) => console.error(`✗ ${fault.message}`));
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 && tally.passed > 0 ? 0 : 1);

async function all() {
  for (const { name, start } of SPEAKERS) {
    if (!existsSync(start[0])) throw new Error(`\`${start[0]}\` is not there, which \`${name}\` needs; run \`tests/all clients\``);
  }
  const lab = await startLab({ logs: join(root, "target/tests/clients"), only: ["v2"] });
  stack.push(() => lab.stop());
  const { host, address, sellers, chain } = lab.endpoints;
  const token = await tokenAt(chain.rpc);
  const counter = await Counter.open({ host, address, target: sellers.v2.ports.honest, certificates: lab.tls });
  stack.push(async () => counter.close());
  const bursar = new Bursar(resolve(options.bursar));
  stack.push(() => bursar.stop());
  const payer = await bursar.init({ authority: lab.tls.authority, host, origins: [counter.origin], recipients: [sellers.v2.payee] });
  await token.mint(payer, 100_000_000n);
  await bursar.open({ budget: "1.00 USD", minutes: 60 });
  const before = await token.balance(sellers.v2.payee);
  const waiting = [...SPEAKERS];
  let owed = 0n;
  const lane = async () => {
    for (let speaker = waiting.shift(); speaker !== undefined; speaker = waiting.shift()) {
      const price = await one(speaker, bursar, counter);
      owed += price;
    }
  };
  // One after another they would mostly wait for blocks.
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const check = new Check();
  check.same("the payee has more, in millionths", (await token.balance(sellers.v2.payee)) - before, owed);
  for (const { name, isAgent } of SPEAKERS) {
    const nonces = counter.payments.filter((one) => one.for === name).map(({ nonce }) => nonce);
    check.same(`${name}: payments on the wire`, nonces.length, isAgent ? 1 : 2);
    check.same(`${name}: different ones`, new Set(nonces).size, nonces.length);
  }
  report("the payee has what was bought, and each purchase went over the wire once", check);
}

/** One speaker and what it said; resolves to what the payee must have got, in millionths. */
async function one(speaker, bursar, counter) {
  const check = new Check();
  const url = (path) => `${counter.origin}${path}?for=${encodeURIComponent(speaker.name)}`;
  const purchase = (path, id) => ({ url: url(path), purchase_id: `${speaker.name.replaceAll(/[^A-Za-z0-9]/g, "-")}-${id}` });
  const asks = {
    quote: { url: url("/cheap") },
    buy: purchase("/cheap", "one"),
    refused: { url: url("/expensive") },
    nonsense: { url: url("/cheap"), pay_to: `0x${"22".repeat(20)}` },
    slow: purchase("/normal", "two"),
  };
  const plan = [["payment_session_status", {}], ...[asks.buy, asks.buy, asks.refused].map((ask) => ["x402_fetch", ask])];
  const started = performance.now();
  const { said, code, errors } = await talk(speaker, { serve: bursar.serve, era: speaker.era, asks, plan },
    ({ step }) => step === "cancel" && counter.release(speaker.name));
  check.same("exit code", code, 0);
  const goods = (path) => goodsOf("v2", path).goods;
  if (speaker.isAgent) agent(check, said, { goods: goods("/cheap") });
  else conversation(check, said, { version: speaker.version, goods: { buy: goods("/cheap"), collected: goods("/normal") } });
  const ms = Math.round(performance.now() - started);
  report(`${speaker.name}${speaker.version ? `, ${speaker.version}` : ""} (${ms} ms)`, check, errors);
  const paths = speaker.isAgent ? ["/cheap"] : ["/cheap", "/normal"];
  return paths.map((path) => GOODS.find((good) => good.path === path).units).reduce((sum, units) => sum + units, 0n);
}

function report(what, check, errors = "") {
  const holds = check.faults.length === 0;
  tally[holds ? "passed" : "failed"] += 1;
  console.log(`${holds ? "✓" : "✗"} ${what}`);
  check.faults.forEach((fault) => console.log(`    ✗ ${fault}`));
  if (!holds && errors) console.log(errors.split("\n").slice(-12).map((line) => `    ${line}`).join("\n"));
}

/** Starts a speaker with its settings as the one argument; resolves to the lines of JSON that it said, each `heard` at once. */
function talk({ start: [program, ...words] }, settings, heard) {
  return new Promise((done, failed) => {
    const child = spawn(program, [...words, JSON.stringify(settings)], {
      cwd: here,
      env: { PATH: process.env.PATH, HOME: bursarless(), LANG: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1", LANGSMITH_TRACING: "false" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: WITHIN_MS,
      killSignal: "SIGKILL",
    });
    const said = [];
    let errors = "";
    createInterface({ input: child.stdout }).on("line", (line) => {
      try {
        said.push(JSON.parse(line));
      } catch {
        errors += `${line}\n`;
        return;
      }
      heard(said.at(-1));
    });
    child.stderr.on("data", (text) => (errors += text));
    child.once("error", failed);
    child.once("close", (code, signal) => done({ said, code: code ?? signal, errors }));
  });
}

/** A home folder in which there is no profile. */
function bursarless() {
  return join(root, "target/tests/clients");
}
