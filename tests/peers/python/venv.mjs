// Makes the two Python environments of the lab in target/tests from pinned, hashed requirements, once for each state of them.
// Run it by hand or by tests/all; starting a lab makes nothing.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const place = fileURLToPath(new URL("../../../target/tests/", import.meta.url));

/** The Python with x402 of this generation, "v1" or "v2". It may not be there. */
export function pythonOf(generation) {
  return join(place, `python-${generation}`, "bin", "python");
}

/** Makes an environment unless there is one of exactly these requirements. */
export function make(generation) {
  const wanted = readFileSync(join(here, `${generation}.txt`), "utf8");
  const folder = join(place, `python-${generation}`);
  const mark = join(folder, "made-of.txt");
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return;
  rmSync(folder, { recursive: true, force: true });
  const run = (command, ...args) => execFileSync(command, args, { stdio: ["ignore", "ignore", "inherit"] });
  run("python3", "-m", "venv", folder);
  run(pythonOf(generation), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--only-binary", ":all:",
    "--require-hashes", "--requirement", join(here, `${generation}.txt`));
  writeFileSync(mark, wanted);
}

if (argv[1] === fileURLToPath(import.meta.url)) for (const generation of ["v2", "v1"]) make(generation);
