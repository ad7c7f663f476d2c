// All figures as one table on the terminal.

import { beside, number, ratio, verdict } from "./numbers.mjs";

export function show(runs) {
  const rows = runs.flatMap(({ bench, figures }) => figures.map((figure) => [
    bench, plain(figure.figure), number(figure.measured, figure.unit), figure.goal ? plain(figure.goal.words) : "", ratio(figure.ratio),
    verdict(figure.held), plain(beside(figure)),
  ]));
  const head = ["bench", "figure", "measured", "goal", "ratio", "", "beside"];
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at].length)));
  console.log("");
  for (const row of [head, ...rows]) console.log(row.map((cell, at) => cell.padEnd(widths[at])).join("  ").trimEnd());
  const held = rows.filter((row) => row[5] === "held").length;
  const missed = rows.filter((row) => row[5] === "missed").length;
  console.log(`\n${rows.length} figures: ${held} goals held, ${missed} missed${runs.some(({ quick }) => quick) ? "; in a quick run none is held against them" : ""}`);
}

function plain(text) {
  return text.replaceAll("`", "");
}
