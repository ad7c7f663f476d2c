// Starts a process of the lab, waits (bounded) until it is ready, and ends it. Touches no other process.

import { spawn } from "node:child_process";
import { openSync, closeSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as after } from "node:timers/promises";
import { LOOPBACK } from "./constants.mjs";
import { commandOf } from "./programs.mjs";

const READY_WITHIN_MS = 60_000;
const END_WITHIN_MS = 5_000;

/** One running part. `ready` is what the part said about itself once it was up. */
export class Part {
  ended = false;
  #child;
  #gone;
  #log;

  constructor(name, script, settings, log) {
    this.name = name;
    this.#log = log;
    const file = openSync(log, "w");
    const [program, ...args] = commandOf(script);
    this.#child = spawn(program, args, {
      stdio: ["pipe", "pipe", file],
      env: { PATH: process.env.PATH, NODE_NO_WARNINGS: "1", PYTHONDONTWRITEBYTECODE: "1" },
    });
    closeSync(file);
    this.#gone = new Promise((resolve) => {
      this.#child.once("exit", resolve);
      this.#child.once("error", resolve); // there is no such program
    });
    this.#gone.then(() => (this.ended = true));
    this.#child.stdin.on("error", () => {}); // it ended early; `started` reports that
    this.#child.stdin.write(`${JSON.stringify(settings)}\n`);
  }

  get pid() {
    return this.#child.pid;
  }

  /** Resolves when the part has said that it is ready and answers on each of its ports. */
  async started(portsOf = () => []) {
    const deadline = AbortSignal.timeout(READY_WITHIN_MS);
    const said = new Promise((resolve) => createInterface({ input: this.#child.stdout }).once("line", resolve));
    const late = new Promise((resolve) => deadline.addEventListener("abort", () => resolve(null), { once: true }));
    const line = await Promise.race([said, this.#gone.then(() => null), late]);
    if (line === null || line === undefined) {
      throw new Error(`${this.name} did not start; its last words: ${this.lastWords()}`);
    }
    this.ready = JSON.parse(line);
    for (const port of portsOf(this.ready)) await untilOpen(port, deadline, this.name);
    return this.ready;
  }

  /** The end of its log, for a person who wonders. */
  lastWords() {
    return readFileSync(this.#log, "utf8").trim().split("\n").slice(-12).join("\n") || "(none)";
  }

  /** Asks it to end by closing its stdin; insists by signal, to this process alone. */
  async stop() {
    this.#child.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"]) {
      if (await endsWithin(this.#gone, END_WITHIN_MS)) return;
      this.#child.kill(signal);
    }
    await this.#gone;
  }
}

/** Polls a loopback port until something accepts. */
export async function untilOpen(port, deadline, name) {
  while (!(await accepts(port))) {
    if (deadline.aborted) throw new Error(`${name} does not answer on port ${port}`);
    await after(20);
  }
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, LOOPBACK);
    socket.once("connect", () => resolve(true) || socket.destroy());
    socket.once("error", () => resolve(false));
  });
}

async function endsWithin(gone, ms) {
  const enough = new AbortController();
  const late = after(ms, false, { signal: enough.signal }).catch(() => false);
  const ended = await Promise.race([gone.then(() => true), late]);
  enough.abort();
  return ended;
}
