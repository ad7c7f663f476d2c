// Tells a person, and on request a file, how the cells went.

import { writeFileSync } from "node:fs";

const COLUMNS = ["", "buyer", "seller", "cell", "want", "got", "paid", "ms"];
const RIGHT = new Set(["paid", "ms"]);

/** The cells as a table, then each fault in a sentence of its own. */
export function show(results) {
  const rows = [COLUMNS, ...results.map(row)];
  const widths = COLUMNS.map((_name, column) => Math.max(...rows.map((cells) => cells[column].length)));
  for (const cells of rows) {
    const padded = cells.map((text, column) =>
      RIGHT.has(COLUMNS[column]) ? text.padStart(widths[column]) : text.padEnd(widths[column]));
    console.log(padded.join("  ").trimEnd());
  }
  for (const { era, cell, faults } of results) {
    for (const fault of faults) console.log(`✗ ${era}, ${cell.seller}, ${cell.name}: ${fault}`);
  }
}

/** The same by seller, in Markdown: how many of the tries of a cell held. What is about no seller of `sellers` is left out. */
export function matrix(results, sellers) {
  const names = [...new Set(results.filter(({ cell }) => !cell.name.startsWith("chain:") && sellers.includes(cell.seller)).map(({ cell }) => cell.name))];
  if (names.length === 0) return;
  const held = (name, seller) => {
    const tries = results.filter(({ cell }) => cell.name === name && cell.seller === seller);
    const good = tries.filter(({ faults }) => faults.length === 0).length;
    return tries.length === 0 ? "–" : good === tries.length ? `${good} ok` : `**${good} of ${tries.length}**`;
  };
  console.log(`\n| | ${sellers.join(" | ")} |\n|---|${sellers.map(() => "---|").join("")}`);
  for (const name of names) console.log(`| ${name} | ${sellers.map((seller) => held(name, seller)).join(" | ")} |`);
  console.log("");
}

/** The last line, which counts. */
export function close(results) {
  const failed = results.filter(({ faults }) => faults.length > 0).length;
  console.log(`${results.length - failed} passed, ${failed} failed`);
  return failed;
}

/** The same for programs. */
export function write(file, results, about) {
  const cells = results.map(({ era, cell, got, moved, ms, faults }) => ({
    buyer: era,
    seller: cell.seller,
    name: cell.name,
    want: cell.want,
    got,
    paid_units: String(-(moved?.buyer ?? 0n)),
    ms,
    ok: faults.length === 0,
    faults,
  }));
  const failed = cells.filter(({ ok }) => !ok).length;
  const summary = { ...about, cells, passed: cells.length - failed, failed, ok: failed === 0 };
  writeFileSync(file, `${JSON.stringify(summary, null, 2)}\n`);
}

function row({ era, cell, got, moved, ms, faults }) {
  return [faults.length === 0 ? "ok" : "NO", era, cell.seller, cell.name, cell.want, got ?? "–", dollars(moved), String(ms)];
}

/** What left the buyer, in dollars, exactly. */
function dollars(moved) {
  const units = -(moved?.buyer ?? 0n);
  const sign = units < 0n ? "-" : "";
  const digits = String(units < 0n ? -units : units).padStart(7, "0");
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
