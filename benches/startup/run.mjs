// From the start of a server to its first answer, bursar and the minimal TypeScript server in turn, and the memory of
// both afterwards. Usage: node run.mjs --bursar PATH [--runs N]
// bursar's vault is running already, as it is for every client but the first; its memory is counted.

import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { bursar: { type: "string" }, runs: { type: "string", default: "15" } } });
if (!values.bursar) {
  console.error("usage: node run.mjs --bursar PATH [--runs N]");
  process.exit(2);
}
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
  const kib = resident(child.pid);
  child.removeAllListeners("exit");
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  await gone;
  return { ms, kib };
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

function resident(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

try {
  bursar(["init", "--json"], "a bench needs no secret\n");
  const vault = spawn(values.bursar, ["--sandbox", sandbox, "vault"], { stdio: "ignore" });
  try {
    await answering();
    bursar(["unlock"], "a bench needs no secret\n");
    const ours = [], theirs = [], ratios = [];
    for (let run = 0; run <= Number(values.runs); run += 1) {
      const a = await once(values.bursar, ["--sandbox", sandbox, "serve"]);
      const b = await once(process.execPath, ["minimal-server.mjs"]);
      if (run === 0) continue;
      ours.push(a);
      theirs.push(b);
      ratios.push(b.ms / a.ms);
    }
    const both = median(ours.map((run) => run.kib)) + resident(vault.pid);
    const other = median(theirs.map((run) => run.kib));
    console.log("                       bursar   TypeScript SDK   ratio of pairs, median");
    console.log(`first answer, ms    ${median(ours.map((r) => r.ms)).toFixed(1).padStart(9)} ${median(theirs.map((r) => r.ms)).toFixed(1).padStart(16)}   ${median(ratios).toFixed(0)}x quicker`);
    console.log(`resident, MiB       ${(both / 1024).toFixed(1).padStart(9)} ${(other / 1024).toFixed(1).padStart(16)}   1/${(other / both).toFixed(1)} (serve and vault together)`);
  } finally {
    vault.kill("SIGTERM");
  }
} finally {
  rmSync(sandbox, { recursive: true, force: true });
}
