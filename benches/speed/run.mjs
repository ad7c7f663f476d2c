// All figures of speed: runs one bench after another on this machine, prints one table, and writes docs/speed.md.
//
//   node benches/speed/run.mjs                   every bench, then the table; what was measured stays in target/speed.json
//   node benches/speed/run.mjs --write           and docs/speed.md with its curves
//   node benches/speed/run.mjs --only wire,judge these alone; `--builds` measures two cold builds too, which takes many minutes
//   node benches/speed/run.mjs --rows 1000,10000000   ledgers of other sizes; one of more than a million is built once and kept
//   node benches/speed/run.mjs --from A,B        runs nothing: the table (with --write the page) from files of earlier runs
//   node benches/speed/run.mjs --quick           a handful of some benches in the debug build, no verdict: what tests/all runs
//
// cargo builds what is not built yet, all of it before anything is measured; a program of yours is measured with --bursar PATH. What npm
// has to bring is told first. The exit code is 0 where every bench ran to its end, whatever its figures are; 2 is wrong usage, or
// something missing.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { benches } from "./benches.mjs";
import { curves } from "./chart.mjs";
import { facts, versions } from "./machine.mjs";
import { page } from "./page.mjs";
import { show } from "./table.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const USAGE = "usage: node benches/speed/run.mjs [--bursar PATH] [--only NAME,…] [--builds] [--rows N,…] [--quick] [--from FILE,…]"
  + " [--write] [--json FILE]";

const { values } = parseArgs({
  options: {
    bursar: { type: "string" },
    only: { type: "string" },
    builds: { type: "boolean", default: false },
    rows: { type: "string" },
    quick: { type: "boolean", default: false },
    from: { type: "string" },
    write: { type: "boolean", default: false },
    json: { type: "string", default: "target/speed.json" },
  },
});
const { quick } = values;
const bursar = values.bursar && relative(ROOT, resolve(values.bursar));
const every = benches({ ...values, bursar });
const only = values.only?.split(",");
const unknown = only?.filter((name) => !every.some((bench) => bench.name === name)) ?? [];
if (unknown.length > 0) stop(`there is no bench \`${unknown.join("`, `")}\`; there are ${every.map(({ name }) => name).join(", ")}\n${USAGE}`);
if (quick && (values.write || values.from)) stop(`what a quick run measures means nothing, and is not written\n${USAGE}`);

const runs = values.from ? gathered(values.from.split(",")) : await measured();
show(runs);
const text = page(runs);
const drawing = curves(runs);
const broken = runs.filter((run) => run.broken !== undefined);
for (const { bench, broken: why } of broken) console.log(`✗ ${bench}: ${why}`);
if (values.write) {
  const absent = every.filter(({ name, asked }) => !asked && !runs.some(({ bench, broken: why }) => bench === name && why === undefined));
  if (absent.length > 0) stop(`the page is not written without ${absent.map(({ name }) => name).join(", ")}; --from puts runs together`);
  writeFileSync(join(ROOT, "docs/speed.md"), text);
  writeFileSync(join(ROOT, "docs/speed-growth.svg"), drawing);
}
process.exit(broken.length === 0 ? 0 : 1);

/** Runs what was asked for, one after another. */
async function measured() {
  const chosen = every.filter(({ name, quick: short, asked }) =>
    only ? only.includes(name) : asked ? values.builds : !quick || short);
  const missing = chosen.flatMap(({ packages = [] }) => packages)
    .filter(([folder, name]) => !existsSync(join(ROOT, folder, "node_modules", name)));
  if (missing.length > 0) stop(missing.map(([folder, name]) => `\`${name}\` is missing: (cd ${folder} && npm ci --ignore-scripts)`).join("\n"));
  if (values.bursar && !existsSync(values.bursar)) stop(`\`${values.bursar}\` is not there`);
  console.log("== what has to be built");
  for (const { build } of chosen) built(build, "inherit");
  const folder = mkdtempSync(join(tmpdir(), "bursar-speed-"));
  const runs = [];
  try {
    for (const bench of chosen) {
      // Nothing is compiled any more; but cargo puts the program that its own benches use, with other features, in the same place.
      built(bench.build, "ignore");
      runs.push(await one(bench, join(folder, `${bench.name}.json`)));
      keep(runs);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return runs;
}

/** Has cargo build, and say so on standard error or not at all. */
function built(commands, errors) {
  for (const [program, ...args] of commands) {
    const { status } = spawnSync(program, args, { cwd: ROOT, stdio: ["ignore", "inherit", errors] });
    if (status !== 0) stop(`\`${[program, ...args].join(" ")}\` failed`);
  }
}

/** One bench: what it printed goes on to the terminal, and its figures come by file, or out of what divan printed. */
async function one({ name, command, printed }, file) {
  const [program, ...args] = command;
  console.log(`\n== ${name}`);
  const told = command.join(" ").replace(/ --$/, "");
  const run = { bench: name, command: told, quick, date: new Date().toISOString(), machine: facts(), versions: versions(), figures: [] };
  const began = performance.now();
  const child = spawn(program, printed ? args : [...args, "--json", file], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (piece) => {
    process.stdout.write(piece);
    said += piece;
  });
  try {
    const [code, signal] = await once(child, "close");
    if (code !== 0) throw new Error(`it ended with ${code ?? signal}`);
    run.figures = printed ? printed(name, said) : JSON.parse(readFileSync(file, "utf8"));
  } catch (fault) {
    run.broken = fault.message;
  }
  run.seconds = Math.round((performance.now() - began) / 1000);
  return run;
}

/** After every bench, so that what was measured outlives a run that does not end. */
function keep(runs) {
  const file = isAbsolute(values.json) ? values.json : join(ROOT, values.json);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(runs, null, 1)}\n`);
}

/** What earlier runs kept, in the order of the benches; of two runs of one bench the one of the later file counts. */
function gathered(files) {
  const found = new Map();
  for (const run of files.flatMap((file) => JSON.parse(readFileSync(file, "utf8")))) {
    if (run.quick) stop(`what a quick run of \`${run.bench}\` measured means nothing, and is not shown`);
    found.set(run.bench, run);
  }
  return every.map(({ name }) => found.get(name)).filter(Boolean);
}

function stop(why) {
  console.error(why);
  process.exit(2);
}
