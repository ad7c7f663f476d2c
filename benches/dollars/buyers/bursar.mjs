// bursar as a buyer of the bench: the official MCP client asks `bursar serve` over stdio, with a vault of its own behind.

import { createRequire } from "node:module";
import { Bursar } from "../../../tests/peers/test/bursar.mjs";
import { APPROVE_OVER, BUDGET } from "../stage/allowed.mjs";
import { peakOf } from "./peak.mjs";

const peers = createRequire(new URL("../../../tests/peers/package.json", import.meta.url));
const { Client } = peers("@modelcontextprotocol/client");
const { StdioClientTransport } = peers("@modelcontextprotocol/client/stdio");

export class BursarBuyer {
  peak = 0;
  speaks = 2;

  constructor(binary, speaks = 2) {
    this.bursar = new Bursar(binary);
    this.speaks = speaks;
  }

  async open({ origins, payees, authority, hosts, approvals = false }) {
    const content = approvals ? `content = "text"\napprove_over = "${dollars(APPROVE_OVER)}"` : 'content = "text"';
    const [host, ...names] = hosts;
    const wallet = await this.bursar.init({ authority, origins, recipients: payees, host, names, content });
    await this.bursar.open({ budget: dollars(BUDGET), minutes: 60 });
    await this.#connect();
    return wallet;
  }

  async buy({ url, method = "GET", body, expect, extra = {} }) {
    const words = body === undefined ? {} : { body, body_type: "json" };
    const price = expect === undefined ? {} : { max_price: dollars(BigInt(expect)) };
    const answer = await this.client.callTool(
      { name: "x402_fetch", arguments: { url, method, ...words, ...price, ...extra } }, { timeout: 200_000 });
    this.#look();
    const { outcome, code } = answer.structuredContent ?? {};
    return { outcome, code, text: JSON.stringify(answer) };
  }

  /** Both processes die at once. */
  async kill() {
    this.#look();
    for (const pid of [this.transport.pid, this.bursar.vaultPid]) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It was gone already.
      }
    }
    await this.client.close().catch(() => {});
  }

  async reopen() {
    await this.bursar.reopen();
    await this.#connect();
  }

  async close() {
    this.#look();
    await this.client?.close().catch(() => {});
    await this.bursar.stop();
  }

  async #connect() {
    this.client = new Client({ name: "dollars", version: "0" });
    this.transport = new StdioClientTransport({ ...this.bursar.serve, stderr: "ignore" });
    await this.client.connect(this.transport);
  }

  /** `serve` and the vault added. */
  #look() {
    if (!this.transport?.pid) return;
    this.peak = Math.max(this.peak, peakOf(this.transport.pid) + peakOf(this.bursar.vaultPid));
  }
}

/** Millionths as money in the words of bursar. */
function dollars(units) {
  const digits = String(units).padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)} USD`;
}
