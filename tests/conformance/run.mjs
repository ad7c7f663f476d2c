// Holds `bursar serve` against the official MCP conformance suite and the official inspector, in both eras of MCP, and has a
// fuzzer for MCP servers at it:
//
//   node tests/conformance/run.mjs --bursar target/debug/bursar [--fuzzer target/tests/python/bin/mcp-fuzzer]
//
// A sandbox without money: nothing here can buy. Ends with the line `N passed, N failed`.

import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Bursar } from "../peers/test/bursar.mjs";
import { openBridge } from "./bridge.mjs";
import * as fuzzer from "./fuzzer.mjs";
import { REASONS, SCENARIOS } from "./scenarios.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const TOOL_WITHIN_MS = 240_000;
const TOOLS = ["x402_fetch", "x402_quote", "prepare_browser_payment", "attach_browser_payment", "payment_session_status"];
/** Of one process of `serve`, asked by the inspector. */
const CALLS_AT_ONCE = 1_000;

const { values: options } = parseArgs({ options: { bursar: { type: "string" }, fuzzer: { type: "string" } } });
const node = packagedNode();
const binary = options.bursar && resolve(options.bursar);
if (!binary || !canRun(binary)) stop("usage: node tests/conformance/run.mjs --bursar PROGRAM [--fuzzer PROGRAM]");
if (!existsSync(join(here, "node_modules/@modelcontextprotocol/conformance"))) {
  stop(`the suite is not installed; run \`npm ci --ignore-scripts\` in ${here}`);
}

const work = mkdtempSync(join(tmpdir(), "bursar-conformance-"));
const bursar = new Bursar(binary);
const tally = { passed: 0, failed: 0 };
try {
  await bursar.init({ authority: "", host: "shop.test", origins: ["https://shop.test:1"], recipients: [`0x${"11".repeat(20)}`] });
  await bursar.open({ budget: "1.00 USD", minutes: 60 });
  for (const revision of Object.keys(SCENARIOS)) await suite(revision);
  for (const era of ["legacy", "modern", "auto"]) await inspector(era);
  if (options.fuzzer) await fuzz(resolve(options.fuzzer));
} catch (fault) {
  tell(false, fault.message);
} finally {
  await bursar.stop();
  rmSync(work, { recursive: true, force: true });
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 && tally.passed > 0 ? 0 : 1);

/** Every scenario that `revision` requires of a server, compared with the table. */
async function suite(revision) {
  const bridge = await openBridge(bursar.serve);
  const out = join(work, revision);
  try {
    await run(node, [installed("conformance"), "server", "--url", bridge.url, "--requirements", revision, "-o", out]);
  } finally {
    await bridge.stop();
  }
  const found = existsSync(out) ? Object.fromEntries(readdirSync(out).map((name) => [
    name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ""),
    JSON.parse(readFileSync(join(out, name, "checks.json"), "utf8")),
  ])) : {};
  const table = SCENARIOS[revision];
  const left = {};
  const whole = [];
  for (const name of new Set([...Object.keys(table), ...Object.keys(found)])) {
    const faults = compare(table[name], found[name]);
    count(faults.length === 0);
    if (faults.length > 0) say(false, `${revision} ${name}`, faults);
    const reasons = new Set(Object.values(table[name] ?? {}));
    if (reasons.size === 0) whole.push(name);
    for (const reason of reasons) left[reason] = [...(left[reason] ?? []), name];
  }
  console.log(`  ${revision}: ${whole.length} scenarios hold whole (${whole.join(", ")}); of the others some checks cannot:`);
  for (const [reason, names] of Object.entries(left)) console.log(`  - ${names.length}: ${REASONS[reason].why}`);
  tell(bridge.strays.length === 0, `${revision} nothing is on standard output that nobody asked for`, ...bridge.strays);
}

/** What differs between what a scenario found and what the table says, in sentences. */
function compare(meant, checks) {
  if (meant === undefined) return ["this scenario is new: put it into scenarios.mjs"];
  if (checks === undefined) return ["the suite did not run this scenario; take it out of scenarios.mjs"];
  const broken = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const faults = [];
  for (const { id, errorMessage = "" } of broken) {
    const reason = REASONS[meant[id]];
    if (!reason) faults.push(`${id}: ${errorMessage}`);
    else if (!reason.says.test(errorMessage)) faults.push(`${id} fails for another reason than the table's: ${errorMessage}`);
  }
  for (const id of Object.keys(meant)) {
    if (!broken.some((check) => check.id === id)) faults.push(`${id} holds now; take it out of scenarios.mjs`);
  }
  const judged = checks.filter(({ status }) => status === "SUCCESS" || status === "FAILURE" || status === "WARNING");
  if (judged.length === 0 && Object.keys(meant).length === 0 && !checks.some(({ status }) => status === "SKIPPED")) {
    faults.push("the scenario judged nothing");
  }
  return faults;
}

/** The inspector's command line, as a client of one era. */
async function inspector(era) {
  const { command, args, env } = bursar.serve;
  const ask = (...words) =>
    run(node, [installed("mcp-inspector"), "--cli", "--protocol-era", era, "--format", "json", ...words, "--", command, ...args], env);
  const list = await ask("--method", "tools/list", "--strict");
  const names = result(list)?.tools?.map(({ name }) => name);
  tell(list.code === 0 && String(names) === String(TOOLS), `inspector ${era}: the schemas of the tools suit every client`, ...complaint(list));
  const status = await ask("--method", "tools/call", "--tool-name", "payment_session_status");
  tell(status.code === 0 && result(status)?.structuredContent?.ready === true, `inspector ${era}: a call is answered`, ...complaint(status));
  const elsewhere = await ask("--method", "tools/call", "--tool-name", "x402_fetch", "--tool-args-json", '{"url":"https://other.test/"}');
  const refused = result(elsewhere)?.structuredContent;
  tell(refused?.outcome === "refused", `inspector ${era}: a host that is not in the rules is refused`, ...complaint(elsewhere));
  if (era === "auto") return;
  const load = await ask("--method", "tools/call", "--tool-name", "payment_session_status", "--load",
    "--load-requests", String(CALLS_AT_ONCE), "--load-concurrency", String(CALLS_AT_ONCE));
  const { ok, errors, toolErrors } = result(load) ?? {};
  const all = ok === CALLS_AT_ONCE && errors === 0 && toolErrors === 0;
  tell(load.code === 0 && all, `inspector ${era}: ${CALLS_AT_ONCE} calls at once are answered`, ...complaint(load));
}

function result({ out }) {
  try {
    return JSON.parse(out).result;
  } catch {
    return undefined;
  }
}

function complaint({ code, out, errors }) {
  const lines = errors.split("\n").filter((line) => line && !line.includes(" INFO "));
  return [`exit code ${code}`, out.slice(0, 400), ...lines.slice(0, 8)].filter(Boolean);
}

/** The fuzzer, and that it bought nothing. */
async function fuzz(program) {
  const { command, args, env } = bursar.serve;
  const out = join(work, "fuzzer");
  const ended = await run(program, fuzzer.words([command, ...args], out), env);
  const found = fuzzer.faults(out, TOOLS);
  tell(found.length === 0, "the fuzzer finds no crash, no silence and nothing taken that should not be", ...found, ...(found.length > 0 ? complaint(ended) : []));
  tell((await bursar.nonces()).length === 0, "nothing was bought by any of this");
}

function installed(tool) {
  return join(here, "node_modules/.bin", tool);
}

/** Runs a tool; it reads and writes no home folder but a temporary one. */
function run(program, words, env = {}) {
  return new Promise((done, failed) => {
    const child = spawn(program, words, {
      cwd: work,
      env: { ...env, PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: "1", HOME: work, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: TOOL_WITHIN_MS,
      killSignal: "SIGKILL",
    });
    let out = "";
    let errors = "";
    child.stdout.on("data", (text) => (out += text));
    child.stderr.on("data", (text) => (errors += text));
    child.once("error", failed);
    child.once("close", (code, signal) => done({ code: code ?? signal, out, errors }));
  });
}

function tell(holds, what, ...more) {
  count(holds);
  say(holds, what, holds ? [] : more);
}

function count(holds) {
  tally[holds ? "passed" : "failed"] += 1;
}

function say(holds, what, lines) {
  console.log(`${holds ? "✓" : "✗"} ${what}`);
  lines.forEach((line) => console.log(`    ${line}`));
}

/** The node of an npm package where the one that runs this is too old for the suite. */
function packagedNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  const packaged = join(here, `node_modules/node-linux-${process.arch}/bin/node`);
  if (!canRun(packaged)) stop(`the suite needs node 22.19 or newer, and \`${packaged}\` is not there; run \`npm ci --ignore-scripts\` in ${here}`);
  return packaged;
}

function canRun(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function stop(sentence) {
  console.error(sentence);
  process.exit(2);
}
