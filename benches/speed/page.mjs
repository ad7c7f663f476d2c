// docs/speed.md out of what was measured, and of nothing else: no result stands here.

import { beside, number, ratio, verdict } from "./numbers.mjs";
import { reason } from "./reasons.mjs";

/** The headings in their order, with what a reader has to know to read the figures under them. */
const THEMES = [
  ["Judging and refusing", ({ bench }) => ["judge", "refuse"].includes(bench),
    "The judge alone, and a real vault behind its sockets that refuses. The floor of the judge is what no judge can do without. Allocations"
    + " are counted meanwhile."],
  ["Counting", ({ bench, series }) => bench === "ledger" && !series,
    "A real vault over its socket: judged, counted, committed to the disk, signed and stored. A crowd claims, asks and reports, each over a"
    + " connection of its own. *The usual way* checks a budget by a sum over the window inside the transaction that reserves, with the same"
    + " durability: one row, no log, no judge and no signature. What is compared takes turns; ratios are medians over rounds."],
  ["As the ledger grows", ({ bench, series }) => bench === "ledger" && series,
    "The same in ledgers of several sizes, one caller, medians of rounds that take turns. Their rows were bought over the last forty days, and"
    + " the limit is one of 24 hours; the usual way has as many rows in its window as the ledger has in all, as under a limit of months."
    + " Both scales of the picture are logarithmic."],
  ["A purchase over the wire", ({ bench }) => bench === "wire",
    "From one seller on loopback TLS and on one disk, in turn: bursar (`serve` and vault), `@x402/fetch` around node's own fetch, and"
    + " `x402-reqwest`. The two others keep their connections, judge nothing and write nothing down."],
  ["Start and memory", ({ bench }) => ["startup", "large"].includes(bench),
    "`serve` and the minimal server of the official TypeScript SDK for MCP start in turn; the ratio of the start is that of pairs. A large body comes from a seller on loopback TLS"
    + " and goes into a file; the seller makes its bytes meanwhile, on the same machine."],
  ["Several vaults, one limit", ({ bench }) => bench === "shares",
    "Vaults with ledgers of their own on one disk, and a center in a PostgreSQL server of the bench's own."],
  ["Size and builds", ({ bench }) => ["size", "builds"].includes(bench),
    "The profile `release`, for Linux. Cold builds are measured with `--builds` only."],
];

export function page(runs) {
  const all = runs.flatMap((run) => run.figures.map((figure) => ({ bench: run.bench, ...figure })));
  const goals = all.filter(({ goal }) => goal);
  const missed = goals.filter(({ held }) => held === false);
  return [
    "# Speed and size",
    "",
    "What bursar costs beside what it is compared with, and beside the floor: the least that no program can do without. Written by one",
    "command from what it measured. A goal is held or **missed**, and a goal that is missed stands here as missed. A ratio is how many",
    "times what stands first beside a figure.",
    "",
    `${goals.length} goals: ${goals.filter(({ held }) => held).length} held, ${missed.length} missed.`,
    "",
    ...THEMES.flatMap((theme) => section(theme, runs, all)),
    ...measuredOn(runs),
    ...again(runs),
  ].join("\n");
}

function section([title, belongs, words], runs, all) {
  const of = ({ series }) => [...new Set(all.map((figure) => figure.series?.name))].indexOf(series?.name);
  const figures = all.filter(belongs).toSorted((one, other) => of(one) - of(other));
  if (figures.length === 0) return [];
  const commands = [...new Set(figures.map(({ bench }) => runs.find((run) => run.bench === bench).command))];
  const picture = figures.some(({ series }) => series) ? ["![Time against the size of the ledger](speed-growth.svg)", ""] : [];
  const reasons = figures.filter(({ held, id }) => held === false && reason(id)).map(({ figure, id }) => [figure, reason(id)]);
  const why = new Map();
  for (const [figure, text] of reasons) why.set(text, [...(why.get(text) ?? []), figure]);
  return [
    `## ${title}`, "", wrapped(words), "", ...picture,
    "| figure | measured | goal | | ratio | beside, in the same run |",
    "|---|---|---|---|---|---|",
    ...figures.map((figure) => `| ${[
      figure.figure, number(figure.measured, figure.unit), figure.goal?.words ?? "–",
      figure.held === false ? "**missed**" : verdict(figure.held), ratio(figure.ratio), beside(figure),
    ].join(" | ")} |`.replace(/ {2,}/g, " ")),
    "",
    ...(why.size > 0 ? [...[...why].map(([text, names]) => wrapped(`- Missed: ${names.join("; ")}. Why: ${text}.`, "  ")), ""] : []),
    wrapped(`Measured by ${commands.map((command) => `\`${command}\``).join(" and ")}.`),
    "",
  ];
}

/** The machine, the day and the state of the source of each run, together where they are the same. */
function measuredOn(runs) {
  const groups = new Map();
  for (const { bench, date, machine } of runs) {
    const { load, ...still } = machine;
    const key = JSON.stringify([date.slice(0, 10), still]);
    groups.set(key, [...(groups.get(key) ?? []), { bench, load }]);
  }
  const rows = [...groups].map(([key, benches]) => {
    const [date, { processor, cores, memory, system, disk, commit, changed }] = JSON.parse(key);
    const loads = benches.map(({ load }) => load);
    return `| ${[
      date, benches.map(({ bench }) => bench).join(", "), `${cores} cores of ${processor}, ${memory} GiB, ${disk}`, system,
      `${commit}${changed ? ", changed" : ""}`, Math.max(...loads),
    ].join(" | ")} |`;
  });
  return [
    "## What it was measured on", "",
    "| day | benches | machine | system | source | most load before a bench |",
    "|---|---|---|---|---|---|",
    ...rows, "",
    wrapped(`Versions: ${[...new Set(runs.flatMap(({ versions }) => versions))].join(", ")}. The load is what the machine did in the minute`
      + " before a bench, the bench before it too: far above the number of cores something else took part."),
    "",
  ];
}

function again(runs) {
  const minutes = Math.ceil(runs.reduce((all, { seconds }) => all + seconds, 0) / 60);
  return [
    "## To measure it again", "",
    `On a machine that does nothing else. Here it took ${minutes} minutes once everything was built. CONTRIBUTING.md tells of each bench.`,
    "",
    "```bash",
    "(cd tests/peers && npm ci --ignore-scripts) && (cd benches/startup && npm ci --ignore-scripts)",
    "node benches/speed/run.mjs --write",
    "```",
    "",
  ];
}

/** A paragraph in lines of a readable length. */
function wrapped(text, indent = "") {
  const lines = [];
  let line = "";
  // A command stays in one line.
  for (const word of text.match(/(?:[^ `]|`[^`]*`)+/g)) {
    if (line && `${line} ${word}`.length > 128) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return [...lines, line].join("\n");
}
