// What each part is run with, by the end of its name: node, the Python of a generation, or a program that was compiled.

import { existsSync } from "node:fs";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The program of this part with its arguments. It may not be there; `wayTo` says. */
export function commandOf(script) {
  if (script.endsWith(".mjs")) return [execPath, script];
  if (script.endsWith(".rs")) return [`${root}target/tests/axum/debug/bursar-axum-seller`];
  return [`${root}target/tests/python-${generationOf(script)}/bin/python`, script];
}

/** The command that brings what this part is run with, or nothing where it is there. */
export function wayTo(script) {
  if (existsSync(commandOf(script)[0])) return undefined;
  if (script.endsWith(".rs")) return "cargo build --locked --manifest-path tests/peers/axum/Cargo.toml --target-dir target/tests/axum";
  const generation = generationOf(script);
  return `tests/environment python-${generation} tests/peers/python/${generation}.txt`;
}

function generationOf(script) {
  return script.endsWith("_v1.py") ? "v1" : "v2";
}
