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

/** The part of the time that is drawn: from a little before the first change to a little after now, so that a day of nothing hides no minute. */
function drawn(chart) {
  const last = chart.points.at(-1).at_s;
  const first = chart.points.length > 2 ? chart.points[1].at_s : chart.begins_s;
  const pause = Math.max(30, (last - first) * 0.2);
  return { from: Math.max(chart.begins_s, first - pause), last, to: Math.min(chart.ends_s, Math.max(last, last + pause)) };
}

/** What was left over time. */
export function burnDown(chart) {
  const { from, last, to } = drawn(chart);
  const span = Math.max(1, to - from);
  const x = (at) => (((Math.max(at, from) - from) / span) * 1000).toFixed(1);
  const y = (permille) => (1000 - permille * 0.94).toFixed(1);
  const [first] = chart.points;
  let line = `M${x(first.at_s)} ${y(first.permille)}`;
  for (const point of chart.points.slice(1)) line += `H${x(point.at_s)}V${y(point.permille)}`;
  const hasEnd = chart.ends_s > last;
  const even = (at) => y(1000 * (1 - (at - chart.begins_s) / Math.max(1, chart.ends_s - chart.begins_s)));
  return h("figure", { class: "card" },
    h("figcaption", {}, h("h4", {}, chart.of),
      h("p", { class: "small" }, `${chart.left} left of ${chart.whole}`, hasEnd && [", until ", shortTime(chart.ends_s), "; dashed: spent evenly"])),
    h("div", { class: "plot" },
      s("svg", {
        viewBox: "0 0 1000 1000", preserveAspectRatio: "none", role: "img",
        "aria-label": `${chart.of}: ${first.left} left at the beginning, ${chart.left} now, of ${chart.whole}`,
      },
      s("path", { class: "area", d: `${line}V1000H${x(first.at_s)}Z` }),
      hasEnd && s("line", { class: "even", x1: 0, y1: even(from), x2: 1000, y2: even(to) }),
      hasEnd && s("line", { class: "now", x1: x(last), y1: 0, x2: x(last), y2: 1000 }),
      s("path", { class: "line", d: line }))),
    h("div", { class: "axis small" }, shortTime(from), hasEnd ? h("span", {}, "the line: now") : null, shortTime(to)),
    h("details", {}, h("summary", {}, "The same in figures"),
      h("ul", { class: "small" }, chart.points.slice(-30).map((point) => h("li", {}, time(point.at_s), `: ${point.left} left`)))));
}
