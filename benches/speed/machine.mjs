// What was measured on, and with which versions of others. Reads; says nothing of the user or of folders.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The first line that a command says, or nothing where it is not there. */
function said(command, ...args) {
  try {
    return execFileSync(command, args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split("\n")[0].trim();
  } catch {
    return undefined;
  }
}

/** What one run ran on, at this moment. */
export function facts() {
  return {
    processor: os.cpus()[0]?.model.trim(),
    cores: os.availableParallelism(),
    memory: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()}`,
    disk: said("findmnt", "-no", "FSTYPE", "-T", "."),
    load: Math.round(os.loadavg()[0] * 100) / 100,
    commit: said("git", "rev-parse", "--short=12", "HEAD"),
    // Documents are no part of what is measured, the page itself least of all.
    changed: said("git", "status", "--porcelain", "--untracked-files=no", "--", ":!docs", ":!*.md") !== "",
  };
}

/** The versions of peers and tools, by their lock files and their own word. */
export function versions() {
  const npm = (folder, name) => {
    const lock = JSON.parse(readFileSync(`${ROOT}${folder}/package-lock.json`, "utf8"));
    return lock.packages[`node_modules/${name}`]?.version;
  };
  const crate = (lock, name) =>
    new RegExp(`name = "${name}"\nversion = "([^"]+)"`).exec(readFileSync(`${ROOT}${lock}`, "utf8"))?.[1];
  const named = {
    "`@x402/fetch`": npm("tests/peers", "@x402/fetch"),
    "`x402-reqwest`": crate("benches/wire/peers/Cargo.lock", "x402-reqwest"),
    "`@modelcontextprotocol/sdk`": npm("benches/startup", "@modelcontextprotocol/sdk"),
    "`rusqlite`": crate("Cargo.lock", "rusqlite"),
    curl: said("curl", "--version")?.split(" ")[1],
    node: process.versions.node,
    Rust: said("rustc", "--version")?.split(" ")[1],
  };
  return Object.entries(named).filter(([, version]) => version).map(([name, version]) => `${name} ${version}`);
}
