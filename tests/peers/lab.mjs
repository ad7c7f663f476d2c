// Runs the lab by itself, for a person to try a buyer against. Ends on Ctrl-C or SIGTERM.
//
//   node lab.mjs [--json FILE] [--ca FILE] [--fund 0xADDRESS]...

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const FUND_UNITS = 100_000_000n; // 100 USDC

const { values: options } = parseArgs({
  options: {
    json: { type: "string", default: join(here, "run", "lab.json") },
    ca: { type: "string", default: join(here, "run", "ca.pem") },
    fund: { type: "string", multiple: true, default: [] },
  },
});

const ended = new Promise((resolve) => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.once(signal, () => resolve(signal));
});
const { startLab } = await import("./lab/start.mjs");
const starting = startLab({ logs: join(here, "run", "logs") });
try {
  const lab = await starting;
  const { tokenAt } = await import("./lab/token.mjs");
  const token = await tokenAt(lab.endpoints.chain.rpc);
  for (const address of options.fund) await token.mint(address, FUND_UNITS);
  write(options.ca, lab.tls.authority);
  write(options.json, `${JSON.stringify(lab.endpoints, null, 2)}\n`);
  console.log(`the lab is up; its endpoints are in ${options.json}`);
  const { host, address, sellers } = lab.endpoints;
  for (const [version, { ports }] of Object.entries(sellers)) {
    console.log(`  ${version} seller  https://${host}:${ports.honest}  (${host} is ${address}; trust ${options.ca})`);
  }
  console.log("press Ctrl-C to end it");
  await ended;
} finally {
  await starting.then((lab) => lab.stop(), () => {});
}

/** Writes a file that a waiting reader never sees half done. */
function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}
