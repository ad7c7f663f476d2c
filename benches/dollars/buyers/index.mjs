// Who is compared, at which version, with which settings, and what each promises by its own documents. An attack that none of a
// buyer's promises would stop is counted apart, as outside of what it promised.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BursarBuyer } from "./bursar.mjs";
import { ProcessBuyer } from "./process.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const peers = join(root, "tests/peers/package.json");
const child = fileURLToPath(new URL("./fetch-child.mjs", import.meta.url));
const python = join(root, "target/tests/python-v2/bin/python");
const reqwest = join(root, "benches/wire/peers/target/release/bursar-dollars-peer");

const EVERYTHING = ["payee", "site", "dollar", "cap", "quote", "cheapest", "asset", "once", "budget", "approval", "lifetime", "memory", "deadline"];
const STRICT = ["payee", "dollar", "cap", "quote", "cheapest", "asset", "approval"];

/** `make()` makes a fresh one with a wallet of its own; `missing` says why it cannot run here. */
export function buyers({ bursar }) {
  return [
    {
      id: "bursar",
      name: "bursar",
      settings: "rules with the seller's origin, payee and token, five cents a payment; a budget of thirty cents",
      promises: EVERYTHING,
      make: () => new BursarBuyer(bursar),
    },
    {
      id: "bursar-v1",
      name: "bursar, x402 v1",
      settings: "the same, with sellers of the first generation",
      promises: EVERYTHING,
      make: () => new BursarBuyer(bursar, 1),
    },
    ...twice({
      id: "fetch",
      name: `@x402/fetch ${npm("@x402/fetch")}`,
      usual: "as its README shows it, on the one network: only tokens that it knows, a dollar a payment",
      strict: "spend controls of five cents in the one token, a policy for the payee, the cheapest offer, a hook for approvals",
      promises: [["dollar", "asset"], STRICT],
      make: (strict) => new ProcessBuyer({ command: process.execPath, args: [child, "x402"], strict }),
    }),
    ...twice({
      id: "legacy",
      name: `x402-fetch ${npm("x402-fetch")}`,
      usual: "as its README shows it: ten cents a payment",
      strict: "a ceiling of five cents (or the price above which a person looks), and a selector that looks at payee and token and takes the cheapest offer",
      promises: [["dollar"], STRICT],
      make: (strict) => new ProcessBuyer({ command: process.execPath, args: [child, "legacy"], strict, speaks: 1 }),
    }),
    ...twice({
      id: "python",
      name: `Python x402 ${pypi()} (httpx)`,
      usual: "as its README shows it, on the one network: only tokens that it knows, a dollar a payment; httpx gives up after 60 silent seconds",
      strict: "spend controls of five cents in the one token, a policy for the payee, the cheapest offer, a hook for approvals",
      promises: [["dollar", "asset"], STRICT],
      missing: existsSync(python) ? undefined : "`tests/environment python-v2 tests/peers/python/v2.txt` makes its environment",
      make: (strict) => new ProcessBuyer({ command: python, args: [fileURLToPath(new URL("./python_child.py", import.meta.url))], strict }),
    }),
    ...twice({
      id: "reqwest",
      name: `x402-reqwest ${crate("x402-reqwest")}`,
      usual: "as its README shows it: the first offer that it can pay; it promises no ceiling",
      strict: "a selector of its own: the one token, the listed payee, five cents (or the price above which a person looks), the cheapest offer",
      promises: [[], STRICT],
      missing: existsSync(reqwest) ? undefined : "`cargo build --release --locked --manifest-path benches/wire/peers/Cargo.toml` builds it",
      make: (strict) => new ProcessBuyer({ command: reqwest, args: [], strict }),
    }),
  ];
}

function twice({ id, name, usual, strict, promises: [few, many], missing, make }) {
  return [
    { id: `${id}-usual`, name, settings: usual, promises: few, missing, make: () => make(false) },
    { id: `${id}-strict`, name: `${name}, strictest`, settings: strict, promises: many, missing, make: () => make(true) },
  ];
}

function npm(name) {
  try {
    return JSON.parse(readFileSync(join(dirname(peers), "node_modules", name, "package.json"), "utf8")).version;
  } catch {
    return "(not installed)";
  }
}

function pypi() {
  const pins = readFileSync(join(dirname(peers), "python/v2.txt"), "utf8");
  return pins.match(/^x402(?:\[[^\]]*\])?==(\S+)/m)?.[1] ?? "";
}

function crate(name) {
  const lock = readFileSync(join(root, "benches/wire/peers/Cargo.lock"), "utf8");
  return lock.match(new RegExp(`name = "${name}"\\nversion = "([^"]+)"`))?.[1] ?? "";
}
