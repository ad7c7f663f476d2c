// The figures of the benches that divan runs, read out of the table that it prints: the medians that a person sees there and no
// others. divan writes no file. What is compared, and each goal, is here.

import { Sheet } from "../figures/sheet.mjs";

const MICROS = { ps: 1e-6, ns: 1e-3, "µs": 1, ms: 1e3, s: 1e6 };

/** The figures of the bench `name` from what it printed. */
export function divan(name, printed) {
  const rows = table(printed);
  const row = (path) => {
    const found = rows.get(path);
    if (!found) throw new Error(`divan printed no median for \`${path}\``);
    return found;
  };
  const sheet = new Sheet();
  (name === "judge" ? judged : refused)(row, sheet);
  return sheet.figures;
}

function judged(row, sheet) {
  const fields = row("floor_parse_three_fields").median;
  const full = "judge_one_offer_with_hosts_and_limits";
  for (const [id, figure, path, offers, most] of [
    ["judge-1", "one offer is judged, median", "judge_offers/1", 1, 2],
    ["judge-4", "4 offers", "judge_offers/4", 4],
    ["judge-32", "32 offers", "judge_offers/32", 32, 20],
    ["judge-full-2", "one offer under 2 host entries and 2 limits, hours and tags", `${full}/(2, 2)`, 1],
    ["judge-full-100", "one offer under 100 host entries and 50 limits", `${full}/(100, 50)`, 1, 2],
    ["judge-full-1000", "one offer under 1,000 host entries and 50 limits", `${full}/(1000, 50)`, 1],
    ["judge-refusal", "a payee is refused", "refuse_a_payee", 1],
  ]) {
    const { median } = row(path);
    const floor = fields * offers;
    sheet.add({
      id, figure, measured: median, unit: "µs", ratio: median / floor,
      beside: [{ what: "floor: reading two addresses and an amount of each", measured: floor, unit: "µs" }],
      goal: most ? { words: `at most ${most} µs`, most } : null,
    });
  }
  for (const [id, figure, path] of [
    ["judge-allocations", "allocations while one offer is judged", "judge_offers/1"],
    ["judge-full-allocations", "the same where paths and tags are listed", `${full}/(2, 2)`],
  ]) {
    const { allocations, bytes } = row(path);
    sheet.add({ id, figure, measured: allocations, unit: "", beside: [{ what: "in all", measured: bytes, unit: "bytes" }] });
  }
}

function refused(row, sheet) {
  const [whole, claim, hello] = ["refused_by_the_vault", "floor_claim", "floor_hello"].map((path) => row(path).median);
  sheet.add({
    id: "refuse", figure: "what a call that the vault refuses adds to its claim, median", measured: whole - claim, unit: "µs",
    beside: [
      { what: "with hello and claim", measured: whole, unit: "µs" },
      { what: "floor: hello and claim alone", measured: claim, unit: "µs" },
      { what: "floor: hello alone", measured: hello, unit: "µs" },
    ],
    goal: { words: "at most 200 µs", most: 200 },
  });
}

/** Medians in µs and allocations by `bench` or `bench/argument`. */
function table(printed) {
  const rows = new Map();
  const path = [];
  let row;
  let next = [];
  for (const line of printed.split("\n")) {
    // Behind the tree: fastest, slowest, median, mean, samples, iterations.
    const median = line.split("│").at(-4)?.trim();
    const branch = /^((?:[│ ] {2})*)[├╰]─ (.*)$/.exec(line);
    if (branch) {
      path.length = branch[1].length / 3;
      path.push(branch[2].split("│")[0].trim().split(/\s{2,}/)[0]);
      row = {};
      if (median) rows.set(path.join("/"), Object.assign(row, { median: scaled(median, MICROS) }));
      next = [];
    } else if (/(^|[│ ])alloc:/.test(line) && !line.includes("max alloc:")) {
      next = ["allocations", "bytes"];
    } else if (next.length > 0) {
      row[next.shift()] = scaled(median, { B: 1, KB: 1e3, MB: 1e6 });
    }
  }
  return rows;
}

function scaled(text, units) {
  const [amount, unit] = text.split(" ");
  return Number(amount) * (unit === undefined ? 1 : units[unit]);
}
