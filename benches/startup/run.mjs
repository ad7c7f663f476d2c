// From the start of a server to its first answer, bursar and the minimal TypeScript server in turn, and the memory of
// both afterwards. Usage: node run.mjs --bursar PATH [--runs N] [--smoke] [--json FILE]
// bursar's vault is running already, as it is for every client but the first; its memory is counted.

import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Sheet } from "../figures/sheet.mjs";

const { values } = parseArgs({
  options: {
    bursar: { type: "string" },
    runs: { type: "string", default: "15" },
    smoke: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
if (!values.bursar) {
  console.error("usage: node run.mjs --bursar PATH [--runs N] [--smoke] [--json FILE]");
  process.exit(2);
}
const runs = values.smoke ? 1 : Number(values.runs);
const minimal = fileURLToPath(new URL("minimal-server.mjs", import.meta.url));
const sheet = new Sheet(values);
const sandbox = mkdtempSync(join(tmpdir(), "bursar-startup-"));
const bursar = (args, input) => execFileSync(values.bursar, ["--sandbox", sandbox, ...args], { input, stdio: ["pipe", "pipe", "ignore"] });
const hello = JSON.stringify({
  jsonrpc: "2.0", id: 1, method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
}) + "\n";

/** Starts a server, asks it to initialize, and resolves to the milliseconds until its answer and its memory. */
async function once(command, args) {
  const began = process.hrtime.bigint();
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write(hello);
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`${command} ended before it answered`)));
  });
  const ms = Number(process.hrtime.bigint() - began) / 1e6;
  const memory = resident(child.pid);
  child.removeAllListeners("exit");
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  await gone;
  return { ms, memory };
}

/** Waits until the vault answers; `lock` asks it and never starts one. */
async function answering() {
  for (let left = 200; ; left -= 1) {
    try {
      return bursar(["lock"]);
    } catch (fault) {
      if (left === 0) throw fault;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Resident memory of a process in KiB: what it maps, and its share of it where pages are shared (smaps_rollup). */
function resident(pid) {
  const number = (file, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))[1]);
  const mapped = number("status", "VmRSS");
  try {
    return { mapped, share: number("smaps_rollup", "Pss") };
  } catch {
    // A process that forbids core dumps shows its map to root only.
    return { mapped, share: mapped };
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

try {
  bursar(["init", "--json"], "a bench needs no secret\n");
  const vault = spawn(values.bursar, ["--sandbox", sandbox, "vault"], { stdio: "ignore" });
  try {
    await answering();
    bursar(["unlock"], "a bench needs no secret\n");
    const ours = [], theirs = [], ratios = [];
    for (let run = 0; run <= runs; run += 1) {
      const a = await once(values.bursar, ["--sandbox", sandbox, "serve"]);
      const b = await once(process.execPath, [minimal]);
      if (run === 0) continue;
      ours.push(a);
      theirs.push(b);
      ratios.push(a.ms / b.ms);
    }
    const line = (name, mine, other, what) => console.log(`${name.padEnd(26)} ${mine.padStart(8)} ${other.padStart(16)}   ${what}`);
    line("", "bursar", "TypeScript SDK", "medians; ratio of pairs");
    const beside = (number, unit) => [{ what: "the minimal server of the TypeScript SDK", measured: number, unit }];
    const [mine, other] = [median(ours.map(({ ms }) => ms)), median(theirs.map(({ ms }) => ms))];
    const start = sheet.add({
      id: "start-serve", figure: "`serve`: start to first answer, the vault already there", measured: mine, unit: "ms",
      beside: beside(other, "ms"), ratio: median(ratios), goal: { words: "at most a 50th of that server", most_times: 1 / 50 },
    });
    line("first answer, ms", mine.toFixed(1), other.toFixed(1), `${(1 / median(ratios)).toFixed(0)} times quicker ${start}`);
    const vaults = resident(vault.pid);
    for (const [kind, name, words] of [
      ["share", "memory taken, MiB", "shared pages counted once"],
      ["mapped", "memory mapped, MiB", "all that is mapped"],
    ]) {
      const both = (median(ours.map(({ memory }) => memory[kind])) + vaults[kind]) / 1024;
      const others = median(theirs.map(({ memory }) => memory[kind])) / 1024;
      const held = sheet.add({
        id: `memory-${kind}`, figure: `memory of \`serve\` and \`vault\` together, ${words}`, measured: both, unit: "MiB",
        beside: beside(others, "MiB"), ratio: both / others, goal: { words: "at most a quarter of that server", most_times: 1 / 4 },
      });
      line(name, both.toFixed(1), others.toFixed(1), `1/${(others / both).toFixed(1)}, serve and vault together ${held}`);
    }
    sheet.write(values.json);
  } finally {
    vault.kill("SIGTERM");
  }
} finally {
  rmSync(sandbox, { recursive: true, force: true });
}
