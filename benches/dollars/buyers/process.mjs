// A buyer that is a process of its own: it gets its settings as one line of JSON, then one purchase a line, and answers
// each with one line. So every library is asked in the same way, can be killed, and its memory can be read.

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { LOOPBACK, NETWORK, USDC } from "../../../tests/peers/lab/constants.mjs";
import { APPROVE_OVER, CAP } from "../stage/allowed.mjs";
import { peakOf } from "./peak.mjs";

const peers = createRequire(new URL("../../../tests/peers/package.json", import.meta.url));
const { generatePrivateKey, privateKeyToAccount } = peers("viem/accounts");

const RUN = fileURLToPath(new URL("../run/", import.meta.url));

export class ProcessBuyer {
  peak = 0;
  #key = generatePrivateKey();
  #waiting = [];
  #authority = `${RUN}ca-${process.pid}.pem`;

  /** `command` and `args` start it; `strict` says whether it is given the strictest settings that its documents show. */
  constructor({ command, args, speaks = 2, strict }) {
    Object.assign(this, { command, args, speaks, strict });
  }

  async open({ payees, authority, hosts, approvals = false }) {
    this.settings = {
      key: this.#key, strict: this.strict, payees, authority, hosts, address: LOOPBACK, network: NETWORK.v2,
      usdc: USDC, cap: String(CAP), approveOver: approvals ? String(APPROVE_OVER) : undefined,
    };
    this.#start();
    return privateKeyToAccount(this.#key).address;
  }

  buy(ask) {
    const answered = new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    this.child.stdin.write(`${JSON.stringify(ask)}\n`);
    return answered.finally(() => this.#look());
  }

  /** Dies as in a power cut. What it remembers is what it had written down, which is its key alone. */
  async kill() {
    this.#look();
    this.child.kill("SIGKILL");
    await this.gone;
  }

  async reopen() {
    this.#start();
  }

  async close() {
    if (!this.child) return;
    this.#look();
    this.child.kill("SIGKILL");
    await this.gone;
  }

  #look() {
    this.peak = Math.max(this.peak, peakOf(this.child.pid));
  }

  #start() {
    mkdirSync(RUN, { recursive: true });
    writeFileSync(this.#authority, this.settings.authority);
    const env = {
      PATH: process.env.PATH, HOME: "/nonexistent", NODE_EXTRA_CA_CERTS: this.#authority, NODE_NO_WARNINGS: "1",
      PYTHONDONTWRITEBYTECODE: "1",
    };
    this.child = spawn(this.command, this.args, { stdio: ["pipe", "pipe", "ignore"], env });
    this.child.stdin.on("error", () => {});
    this.gone = new Promise((resolve) => {
      this.child.once("exit", resolve);
      this.child.once("error", resolve);
    });
    this.gone.then(() => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error("the buyer died"));
    });
    const answers = createInterface({ input: this.child.stdout });
    answers.on("line", (line) => {
      const answer = JSON.parse(line);
      const [waiting] = this.#waiting.splice(0, 1);
      waiting?.resolve(answer);
    });
    this.child.stdin.write(`${JSON.stringify(this.settings)}\n`);
  }
}
