// Draws what each buyer lost as a bar chart in SVG, readable on light and on dark pages.

import { dollars, totals } from "./table.mjs";

const WIDTH = 860;
const LEFT = 260;
const RIGHT = 110;
const ROW = 34;
const BAR = 18;
const TOP = 74;

export function chart(outcome) {
  const rows = totals(outcome);
  const most = rows.reduce((high, { inside, outside }) => (inside + outside > high ? inside + outside : high), 1n);
  const room = WIDTH - LEFT - RIGHT;
  const long = (units) => Math.round((Number(units) / Number(most)) * room * 10) / 10;
  const bars = rows.map(({ name, inside, outside }, number) => {
    const y = TOP + number * ROW;
    const [first, second] = [long(inside), long(outside)];
    const words = `${dollars(inside + outside)}`;
    return `
  <text class="name" x="${LEFT - 12}" y="${y + BAR - 4}" text-anchor="end">${escape(name)}</text>
  <rect class="inside" x="${LEFT}" y="${y}" width="${first}" height="${BAR}"/>
  <rect class="outside" x="${LEFT + first}" y="${y}" width="${second}" height="${BAR}"/>
  <text class="sum${inside + outside === 0n ? " none" : ""}" x="${LEFT + first + second + 8}" y="${y + BAR - 4}">${words}</text>`;
  });
  const height = TOP + rows.length * ROW + 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="t">
  <title id="t">Dollars lost by each buyer</title>
  <style>
    .ground { fill: #ffffff; }
    text { font: 13px system-ui, sans-serif; fill: #24292f; }
    .head { font-weight: 600; font-size: 15px; }
    .sum { font-variant-numeric: tabular-nums; }
    .none { fill: #1a7f37; font-weight: 600; }
    .inside { fill: #cf222e; }
    .outside { fill: #8c959f; }
    line { stroke: #8c959f; stroke-width: 1; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #14181d; }
      text { fill: #e6edf3; }
      .none { fill: #3fb950; }
      .inside { fill: #f85149; }
      .outside { fill: #6e7681; }
    }
  </style>
  <rect class="ground" width="${WIDTH}" height="${height}" rx="8"/>
  <text class="head" x="12" y="26">Dollars lost to the same hostile sellers</text>
  <rect class="inside" x="12" y="42" width="12" height="12"/><text x="30" y="53">inside what the buyer promises</text>
  <rect class="outside" x="250" y="42" width="12" height="12"/><text x="268" y="53">outside of it</text>
  <line x1="${LEFT}" y1="${TOP - 6}" x2="${LEFT}" y2="${height - 12}"/>${bars.join("")}
</svg>
`;
}

function escape(text) {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
