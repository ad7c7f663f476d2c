// A headless Chromium whose only network is this lab, with a debugging port on loopback.

import { createHash, X509Certificate } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Part } from "../lab/child.mjs";

const KEEPER = fileURLToPath(new URL("../parts/keeper.mjs", import.meta.url));
const READY_WITHIN_MS = 30_000;
const PROGRAMS = [
  "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome-stable", "/usr/bin/google-chrome",
  // What tests/chromium/bring.mjs unpacked.
  fileURLToPath(new URL("../../../target/tests/chromium/chromium", import.meta.url)),
];

/** Where Chromium is installed. */
export function chromiumProgram() {
  const found = PROGRAMS.find((path) => existsSync(path));
  if (found) return found;
  throw new Error("no Chromium is installed, which the browser's cells need (Debian: apt-get install chromium; or see tests/chromium)");
}

/** Arguments that keep it inside the lab: it finds the shop and trusts it, and finds nothing else. */
export function labArguments({ host, address, certificate }) {
  const key = new X509Certificate(certificate).publicKey.export({ type: "spki", format: "der" });
  return [
    "--no-sandbox", "--disable-dev-shm-usage", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-background-networking",
    `--ignore-certificate-errors-spki-list=${createHash("sha256").update(key).digest("base64")}`,
    `--host-resolver-rules=MAP ${host} ${address}, MAP * ~NOTFOUND, EXCLUDE ${address}`,
  ];
}

export class Chromium {
  #part;
  /** Its own, which goes with it. */
  folder;

  /** Starts it; `endpoint` is where its debuggers go. It ends with this process. */
  static async start(lab) {
    const chromium = new Chromium();
    const folder = mkdtempSync(join(tmpdir(), "bursar-chromium-"));
    chromium.folder = folder;
    chromium.#part = new Part("chromium", KEEPER, {
      command: chromiumProgram(),
      args: [...labArguments(lab), "--headless=new", "--remote-debugging-port=0", `--user-data-dir=${folder}`, "about:blank"],
      env: { PATH: process.env.PATH, HOME: folder },
    }, `${folder}.log`);
    try {
      await chromium.#part.started();
      const [port, path] = await untilWritten(join(folder, "DevToolsActivePort"), chromium.#part);
      chromium.endpoint = `ws://${lab.address}:${port}${path}`;
    } catch (fault) {
      await chromium.stop();
      throw fault;
    }
    return chromium;
  }

  async stop() {
    await this.#part.stop();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    rmSync(`${this.folder}.log`, { force: true });
  }
}

/** The lines of a file that Chromium writes once it listens. */
async function untilWritten(file, part) {
  const deadline = AbortSignal.timeout(READY_WITHIN_MS);
  for (;;) {
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    if (lines.length > 1) return lines;
    if (part.ended || deadline.aborted) throw new Error(`Chromium opened no debugging port; its last words: ${part.lastWords()}`);
    await after(20);
  }
}
