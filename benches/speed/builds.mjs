// How large the program is and of how many crates, or with --cold what building it takes: processor seconds of a build in a new
// target folder, on two cores. Builds nothing else. Usage: node builds.mjs --bursar PATH | --cold [--json FILE]

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Sheet } from "../figures/sheet.mjs";
import { number } from "./numbers.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { values } = parseArgs({
  options: { bursar: { type: "string" }, cold: { type: "boolean", default: false }, smoke: { type: "boolean", default: false }, json: { type: "string" } },
});
if (!values.bursar === !values.cold) {
  console.error("usage: node builds.mjs --bursar PATH | --cold [--json FILE]");
  process.exit(2);
}
const sheet = new Sheet(values);
const tell = (figure) => {
  const held = sheet.add(figure);
  console.log(`${figure.figure}: ${number(figure.measured, figure.unit)} (${figure.goal.words}) ${held}`);
};

if (values.bursar) {
  tell({
    id: "binary-size", figure: "the program, stripped", measured: statSync(values.bursar).size / 1e6, unit: "MB",
    goal: { words: "at most 15 MB", most: 15 },
  });
  const tree = execFileSync("cargo", ["tree", "--locked", "--offline", "--package", "bursar", "--edges", "normal", "--prefix", "none",
    "--target", "x86_64-unknown-linux-gnu", "--format", "{p}"], { cwd: ROOT, encoding: "utf8" });
  const crates = new Set(tree.trim().split("\n").map((line) => line.replace(/ \(\*\)$/, "")));
  // The ceiling is the test's.
  const most = Number(/CRATES_SHIPPED_MAX: usize = (\d+);/.exec(readFileSync(`${ROOT}tests/house/supply.rs`, "utf8"))[1]);
  tell({
    id: "crates", figure: "crates in the program for Linux, its own among them", measured: crates.size, unit: "",
    goal: { words: `at most ${most}`, most },
  });
} else {
  for (const [id, figure, profile, most] of [
    ["build-dev", "cold dev build, processor time on 2 cores", [], 300],
    ["build-release", "cold release build, processor time on 2 cores", ["--release"], 450],
  ]) {
    tell({ id, figure, measured: cold(profile), unit: "s", goal: { words: `at most ${most} s`, most } });
  }
}
sheet.write(values.json);

/** Processor seconds of a build of everything, in user and system mode. */
function cold(profile) {
  const target = mkdtempSync(join(tmpdir(), "bursar-cold-"));
  try {
    const { status, stderr } = spawnSync("taskset", ["-c", "0,1", "bash", "-c",
      `TIMEFORMAT='took %U %S'; time cargo build --quiet --locked ${profile.join(" ")}`],
      { cwd: ROOT, encoding: "utf8", env: { ...process.env, CARGO_TARGET_DIR: target } });
    const took = /^took ([\d.]+) ([\d.]+)$/m.exec(stderr ?? "");
    if (status !== 0 || !took) throw new Error(`the build ended with ${status}: ${stderr}`);
    return Number(took[1]) + Number(took[2]);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}
