// The command line of bursar as the tests use it: a sandbox, its rules, its vault, its budget, its log.
// Every assumption about commands, flags and the rules file is in this file and nowhere else.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Part } from "../lab/child.mjs";
import { CHAIN_ID, LOOPBACK, NETWORK, USDC } from "../lab/constants.mjs";

const KEEPER = fileURLToPath(new URL("../parts/keeper.mjs", import.meta.url));
const COMMAND_WITHIN_MS = 30_000;
const VAULT_WITHIN_MS = 15_000;

export class Bursar {
  #binary;
  passphrase = randomBytes(16).toString("hex");
  #vault;

  constructor(binary) {
    this.#binary = binary;
    // Short, so that the sockets' paths fit; private, as bursar demands of the folder that holds its key.
    this.sandbox = mkdtempSync(join(tmpdir(), "bursar-peers-"));
  }

  /** Arguments that start the MCP server for one client. */
  get serve() {
    return { command: this.#binary, args: ["--sandbox", this.sandbox, "serve"], env: quietEnvironment() };
  }

  /** Where glue asks. */
  get glueSocket() {
    return join(this.sandbox, "run", "glue.sock");
  }

  /** Starts `bursar browser` beside a browser; it ends with this process. */
  async joinBrowser(endpoint) {
    const log = join(this.sandbox, "peers-browser.log");
    const glue = new Part("bursar browser", KEEPER, {
      command: this.#binary,
      args: ["--sandbox", this.sandbox, "browser", "--connect", endpoint],
      env: quietEnvironment(),
    }, log);
    await glue.started();
    const deadline = AbortSignal.timeout(VAULT_WITHIN_MS);
    while (!readFileSync(log, "utf8").includes("joined the browser")) {
      if (glue.ended || deadline.aborted) {
        await glue.stop();
        throw new Error(`bursar browser does not join; its last words: ${glue.lastWords()}`);
      }
      await after(20);
    }
    return glue;
  }

  /** Makes a key and the rules; `content` is how each host's answers are kept. Resolves to the address that will pay. */
  async init({ authority, origins, recipients, host, content = 'content = "text"', names = [], tables = "" }) {
    const made = parsed(await this.#run(["init", "--json"], this.passphrase));
    const payer = made.payer ?? made.address;
    if (!payer) throw new Error(`init --json names no payer: ${JSON.stringify(made)}`);
    this.rules = rules({ origins, recipients, hosts: [host, ...names], content, tables });
    writeFileSync(join(this.sandbox, "ca.pem"), authority, { mode: 0o600 });
    writeFileSync(join(this.sandbox, "bursar.toml"), this.rules, { mode: 0o600 });
    return payer;
  }

  /** Starts a vault that ends with this process, unlocks it and opens a budget. */
  async open({ budget, minutes }) {
    await this.reopen();
    await this.#run(["session", "new", "--budget", budget, "--minutes", String(minutes)], this.passphrase);
  }

  /** Starts a vault again, after the one before it ended or was killed, and unlocks it. Its budgets are those of its ledger. */
  async reopen() {
    this.#vault = new Part("vault", KEEPER, {
      command: this.#binary,
      args: ["--sandbox", this.sandbox, "vault"],
      env: quietEnvironment(),
    }, join(this.sandbox, "peers-vault.log"));
    await this.#vault.started();
    await this.#untilVaultAnswers();
    await this.#run(["unlock"], this.passphrase);
  }

  /** The process of the vault that `open` started. */
  get vaultPid() {
    return this.#vault.ready.pid;
  }

  /** The nonce of every payment that the ledger knows, in lower case. */
  async nonces() {
    const events = lines(await this.#run(["log", "--json", "--limit", "500"]));
    const payments = new Set(events.map(({ payment }) => payment).filter(Boolean));
    const nonces = [];
    for (const payment of payments) {
      const story = await this.#run(["explain", payment]);
      const [, nonce] = story.match(/\bnonce\W+(0x[0-9a-f]{64})\b/i) ?? [];
      if (!nonce) throw new Error(`explain ${payment} names no nonce`);
      nonces.push(nonce.toLowerCase());
    }
    return nonces;
  }

  /** Has the chains asked now; what they proved. A chain that cannot be asked is told, and is no fault here. */
  async reconcile() {
    return parsed((await this.#try(["reconcile", "--json"])).out);
  }

  /** Has money moved out; what the file of it says. */
  async sweep(args) {
    const file = join(this.sandbox, `sweep-${randomBytes(4).toString("hex")}.json`);
    await this.#run(["sweep", ...args, "--out", file], this.passphrase);
    return JSON.parse(readFileSync(file, "utf8"));
  }

  /** Lets the agent pay again. */
  async thaw() {
    await this.#run(["thaw"], this.passphrase);
  }

  /** Lets another key pay; resolves to its account. */
  async rotate() {
    await this.#run(["rotate"], this.passphrase);
    return (await this.status()).payer;
  }

  async status() {
    return parsed(await this.#run(["status", "--json"]));
  }

  /** Everything about one payment. */
  async payment(id) {
    return parsed(await this.#run(["explain", id, "--json"]));
  }

  /** Ends the vault that `open` started and, unless told otherwise, removes the sandbox. */
  async stop({ keep = false } = {}) {
    await this.#vault?.stop();
    if (!keep) rmSync(this.sandbox, { recursive: true, force: true });
  }

  async #untilVaultAnswers() {
    const deadline = AbortSignal.timeout(VAULT_WITHIN_MS);
    // `lock` only works where a vault answers; most other commands would start a second one by themselves.
    while ((await this.#try(["lock"])).code !== 0) {
      if (this.#vault.ended || deadline.aborted) {
        throw new Error(`the vault does not answer; its last words: ${this.#vault.lastWords()}`);
      }
      await after(50);
    }
  }

  async #run(args, input) {
    const { code, out, errors } = await this.#try(args, input);
    if (code !== 0) throw new Error(`bursar ${args[0]} ended with ${code}: ${errors.trim() || out.trim()}`);
    return out;
  }

  /** Runs one command; `input` is what a person would have typed. */
  #try(args, input) {
    return new Promise((resolve, reject) => {
      const child = spawn(this.#binary, ["--sandbox", this.sandbox, ...args], {
        stdio: ["pipe", "pipe", "pipe"],
        env: quietEnvironment(),
        timeout: COMMAND_WITHIN_MS,
        killSignal: "SIGKILL",
      });
      let out = "";
      let errors = "";
      child.stdout.on("data", (text) => (out += text));
      child.stderr.on("data", (text) => (errors += text));
      child.once("error", reject);
      child.once("close", (code, signal) => resolve({ code: code ?? signal, out, errors }));
      child.stdin.on("error", () => {}); // it may end without reading
      child.stdin.end(input === undefined ? "" : `${input}\n`);
    });
  }
}

/** Nothing that could look like a key or a proxy setting reaches bursar. */
function quietEnvironment() {
  return { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/", LANG: "C.UTF-8" };
}

function rules({ origins, recipients, hosts: names, content, tables }) {
  const list = (items) => `[${items.map((item) => JSON.stringify(item)).join(", ")}]`;
  const hosts = origins.map((origin) => `
[[host]]
origin = ${JSON.stringify(origin)}
methods = ["GET", "POST"]
${content}
`);
  return `[payment]
max_per_payment = "0.05 USD"
schemes = ["exact"]
networks = ${list([NETWORK.v2])}
assets = ${list([`eip155:${CHAIN_ID}/erc20:${USDC}`])}
recipients = ${list(recipients)}
max_lifetime = "5m"

[[limit]]
scope = "all"
window = "24h"
max = "5.00 USD"
${hosts.join("")}${tables}
[sandbox]
hosts = { ${names.map((name) => `${JSON.stringify(name)} = ${JSON.stringify(LOOPBACK)}`).join(", ")} }
ca = "ca.pem"
`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`expected JSON from bursar, got: ${text.slice(0, 200)}`);
  }
}

function lines(text) {
  return text.split("\n").filter(Boolean).map(parsed);
}
