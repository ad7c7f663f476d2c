// Bars and burn-down lines, drawn from the numbers that the console worked out. Text stands beside the drawings, so that it
// keeps its size.

import { h, s, shortTime, time } from "./dom.js";

/** How much is used, as a bar and in words. */
export function bar(permille, label) {
  const much = permille >= 1000 ? " all" : permille >= 800 ? " much" : "";
  const level = Math.round(permille / 10);
  return h("div", {
    class: `bar${much}`, role: "meter", "aria-label": label,
    "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": level, "aria-valuetext": `${label}, ${level} percent`,
  }, s("svg", { "aria-hidden": "true" }, s("rect", { width: `${permille / 10}%`, height: "100%" })));
}

/** What was left over time. */
export function burnDown(chart) {
  const span = Math.max(1, chart.ends_s - chart.begins_s);
  const x = (at) => (((at - chart.begins_s) / span) * 1000).toFixed(1);
  const y = (permille) => (1000 - permille * 0.96).toFixed(1);
  const [first] = chart.points;
  const last = chart.points.at(-1);
  let line = `M${x(first.at_s)} ${y(first.permille)}`;
  for (const point of chart.points.slice(1)) line += `H${x(point.at_s)}V${y(point.permille)}`;
  const hasEnd = chart.ends_s > last.at_s;
  return h("figure", { class: "card" },
    h("figcaption", {}, h("h4", {}, chart.of), h("p", { class: "small" }, `${chart.left} left of ${chart.whole}`)),
    h("div", { class: "plot" },
      s("svg", {
        viewBox: "0 0 1000 1000", preserveAspectRatio: "none", role: "img",
        "aria-label": `${chart.of}: ${first.left} left at the beginning, ${chart.left} now, of ${chart.whole}`,
      },
      s("path", { class: "area", d: `${line}V1000H${x(first.at_s)}Z` }),
      hasEnd && s("line", { class: "even", x1: 0, y1: y(1000), x2: 1000, y2: 1000 }),
      hasEnd && s("line", { class: "now", x1: x(last.at_s), y1: 0, x2: x(last.at_s), y2: 1000 }),
      s("path", { class: "line", d: line }))),
    h("div", { class: "axis small" }, shortTime(chart.begins_s), shortTime(chart.ends_s)),
    h("details", {}, h("summary", {}, "The same in figures"),
      h("ul", { class: "small" }, chart.points.slice(-30).map((point) => h("li", {}, time(point.at_s), `: ${point.left} left`)))));
}
