// Both sides of a purchase as processes: the seller, bursar behind its MCP pipe, and buyers that take their rounds by
// line. Measures nothing but time and processor time, and ends what it started.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import https from "node:https";
import { createInterface } from "node:readline";
import { Bursar } from "../../tests/peers/test/bursar.mjs";

const HOST = "shop.test";
const TICKS_A_SECOND = 100; // USER_HZ, the same on every Linux

/** Processor milliseconds of a process, its threads that ended included. */
function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_A_SECOND;
}

/** A process that is told by line and answers by line. */
class Lines {
  constructor(command, args, env = {}, errors = "inherit") {
    this.child = spawn(command, args, { stdio: ["pipe", "pipe", errors], env: { PATH: process.env.PATH, ...env } });
    this.lines = createInterface({ input: this.child.stdout });
    this.gone = once(this.child, "exit");
    this.gone.then(() => this.lines.close());
  }

  say(line) {
    this.child.stdin.write(`${line}\n`);
  }

  async next() {
    const [line] = await Promise.race([
      once(this.lines, "line"),
      this.gone.then(() => { throw new Error(`${this.child.spawnfile} ended early`); }),
    ]);
    return JSON.parse(line);
  }

  async stop() {
    this.child.stdin.end();
    await this.gone;
  }
}

/** The canned seller. */
export class Seller {
  static async open(program) {
    const seller = new Seller();
    seller.lines = new Lines(program, []);
    Object.assign(seller, await seller.lines.next());
    seller.origin = `https://${HOST}:${seller.port}`;
    return seller;
  }

  /** What it sold. */
  async books() {
    const request = https.get(`${this.origin}/books`, {
      ca: this.authority,
      agent: false,
      lookup: (_name, { all }, found) =>
        all ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4),
    });
    const [reply] = await once(request, "response");
    let text = "";
    for await (const piece of reply) text += piece;
    return JSON.parse(text);
  }

  stop() {
    return this.lines.stop();
  }
}

/** A buyer that is a process of its own and times itself. */
export class LineBuyer {
  constructor(name, command, args, env) {
    this.name = name;
    this.command = [command, args, env];
  }

  async start() {
    this.lines = new Lines(...this.command);
  }

  ask(line) {
    this.lines.say(line);
    return this.lines.next();
  }

  buy(prefix, count, flight) {
    return this.ask(`buy ${prefix} ${count} ${flight}`);
  }

  cpu() {
    return cpuOf(this.lines.child.pid);
  }

  stop() {
    return this.lines.stop();
  }
}

/** bursar, asked over its standard input; its time is that between the line in and the line out. */
export class BursarBuyer {
  name = "bursar";
  #next = 1;
  #waiting = new Map();

  constructor(program, seller, content) {
    this.bursar = new Bursar(program);
    this.seller = seller;
    this.content = content;
  }

  async start() {
    const { authority, origin, payee } = this.seller;
    await this.bursar.init({ authority, origins: [origin], recipients: [payee], host: HOST, content: this.content });
    await this.bursar.open({ budget: "2.00 USD", minutes: 120 });
    const { command, args, env } = this.bursar.serve;
    this.lines = new Lines(command, args, env, "ignore");
    this.lines.lines.on("line", (line) => this.#heard(JSON.parse(line)));
    await this.#call("initialize", {
      protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" },
    });
    this.lines.say(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  }

  /** One purchase: its milliseconds, and how many bytes were kept. */
  async one(path) {
    const began = performance.now();
    const { structuredContent } = await this.#call("tools/call", {
      name: "x402_fetch", arguments: { url: `${this.seller.origin}${path}` },
    });
    const ms = performance.now() - began;
    if (structuredContent?.outcome !== "paid") throw new Error(`not paid: ${JSON.stringify(structuredContent)}`);
    return { ms, bytes: structuredContent.content.bytes };
  }

  async buy(prefix, count, flight) {
    const began = performance.now();
    const ms = [];
    let next = 0;
    const hand = async () => {
      while (next < count) ms.push((await this.one(`${prefix}${next++}`)).ms);
    };
    await Promise.all(Array.from({ length: flight }, hand));
    return { ms, total: performance.now() - began };
  }

  /** `serve` and the vault together. */
  cpu() {
    return cpuOf(this.lines.child.pid) + cpuOf(this.bursar.vaultPid);
  }

  async stop() {
    await this.lines?.stop();
    await this.bursar.stop();
  }

  #call(method, params) {
    const id = this.#next++;
    const answered = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.lines.say(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return Promise.race([answered, this.lines.gone.then(() => { throw new Error("bursar serve ended early"); })]);
  }

  #heard({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(JSON.stringify(error)));
    else waiting?.resolve(result);
  }
}

/** Milliseconds that curl takes for `path` into a file. */
export async function curl({ origin, port }, authority, path, file) {
  const began = performance.now();
  const child = spawn("curl", ["--silent", "--fail", "--noproxy", "*", "--cacert", authority, "--resolve",
    `${HOST}:${port}:127.0.0.1`, "--output", file, `${origin}${path}`], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`curl ended with ${code}`);
  return performance.now() - began;
}
