// Draws the curves of time against the size of the ledger in SVG, both scales logarithmic, readable on light and on dark pages.

import { number } from "./numbers.mjs";

const WIDTH = 860;
const HEIGHT = 420;
const BOX = { left: 76, right: WIDTH - 290, top: 56, bottom: HEIGHT - 56 };

/** Nothing where no ledger was measured. */
export function curves(runs) {
  const points = runs.flatMap(({ figures }) => figures).filter(({ series }) => series);
  if (points.length === 0) return undefined;
  const names = [...new Set(points.map(({ series }) => series.name))];
  const of = names.map((name) => points.filter(({ series }) => series.name === name)
    .map(({ series, measured }) => ({ at: series.at, measured })).toSorted((one, other) => one.at - other.at));
  const across = scale(points.map(({ series }) => series.at), BOX.left, BOX.right);
  const up = scale(points.map(({ measured }) => measured), BOX.bottom, BOX.top);
  const ends = apart(of.map((curve) => up.place(curve.at(-1).measured)));
  const title = "Time against the size of the ledger";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="t d">
  <title id="t">${title}</title>
  <desc id="d">${escape(of.map((curve, nth) => `${names[nth]}: ${curve.map(({ at, measured }) => `${number(measured, "ms")} at ${number(at, "rows")}`).join(", ")}`).join(". "))}.</desc>
  <style>
    .ground { fill: #ffffff; }
    text { font: 13px system-ui, sans-serif; fill: #24292f; }
    .head { font-weight: 600; font-size: 15px; }
    .small { font-size: 12px; fill: #57606a; }
    .grid { stroke: #d0d7de; stroke-width: 1; }
    path { fill: none; stroke-width: 2.5; }
    .c0 { stroke: #0969da; } .c1 { stroke: #57606a; stroke-dasharray: 6 4; } .c2 { stroke: #cf222e; }
    .d0 { fill: #0969da; } .d1 { fill: #57606a; } .d2 { fill: #cf222e; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #14181d; }
      text { fill: #e6edf3; }
      .small { fill: #9aa4af; }
      .grid { stroke: #343b43; }
      .c0 { stroke: #58a6ff; } .c1 { stroke: #9aa4af; } .c2 { stroke: #ff8f86; }
      .d0 { fill: #58a6ff; } .d1 { fill: #9aa4af; } .d2 { fill: #ff8f86; }
    }
  </style>
  <rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="8"/>
  <text class="head" x="20" y="30">${title}: medians, one caller</text>
${across.ticks.map((tick) => `  <line class="grid" x1="${across.place(tick)}" y1="${BOX.top}" x2="${across.place(tick)}" y2="${BOX.bottom}"/>
  <text class="small" x="${across.place(tick)}" y="${BOX.bottom + 20}" text-anchor="middle">${number(tick)}</text>`).join("\n")}
${up.ticks.map((tick) => `  <line class="grid" x1="${BOX.left}" y1="${up.place(tick)}" x2="${BOX.right}" y2="${up.place(tick)}"/>
  <text class="small" x="${BOX.left - 8}" y="${up.place(tick) + 4}" text-anchor="end">${Number(tick.toPrecision(3))} ms</text>`).join("\n")}
  <text class="small" x="${(BOX.left + BOX.right) / 2}" y="${BOX.bottom + 42}" text-anchor="middle">rows in the ledger, or in the window of the usual way</text>
${of.map((curve, nth) => `  <path class="c${nth}" d="M${curve.map(({ at, measured }) => `${across.place(at)} ${up.place(measured)}`).join("L")}"/>
${curve.map(({ at, measured }) => `  <circle class="d${nth}" cx="${across.place(at)}" cy="${up.place(measured)}" r="3.5"/>`).join("\n")}
  <text x="${BOX.right + 12}" y="${ends[nth] + 4}">${escape(names[nth])}</text>`).join("\n")}
</svg>
`;
}

/** A logarithmic scale over whole powers of ten that holds all `values`. */
function scale(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const place = (value) => Math.round((from + ((Math.log10(value) - low) / (high - low)) * (to - from)) * 10) / 10;
  return { place, ticks: Array.from({ length: high - low + 1 }, (_, nth) => 10 ** (low + nth)) };
}

/** Heights of the names, moved until none stands on another. */
function apart(heights) {
  const order = heights.map((height, nth) => ({ height, nth })).toSorted((one, other) => one.height - other.height);
  for (let at = 1; at < order.length; at += 1) order[at].height = Math.max(order[at].height, order[at - 1].height + 18);
  return order.toSorted((one, other) => one.nth - other.nth).map(({ height }) => height);
}

function escape(text) {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
