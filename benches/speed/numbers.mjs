// How figures are written, the same on the terminal and on the page.

/** A number with three digits that count, and its unit. */
export function number(value, unit) {
  const places = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : value === 0 ? 0 : Math.min(6, 2 - Math.floor(Math.log10(value)));
  const text = value.toFixed(places).replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
  if (unit === "/s") return `${text} a second`;
  if (unit === "MiB/s") return `${text} MiB a second`;
  return unit ? `${text} ${unit}` : text;
}

/** How many times, or which part. */
export function ratio(value) {
  if (value === null) return "";
  if (value >= 10) return `${value.toFixed(value >= 100 ? 0 : 1)}×`;
  return value >= 0.1 ? `${value.toFixed(2)}×` : `1/${Math.round(1 / value)}`;
}

export function verdict(held) {
  return held === null ? "" : held ? "held" : "missed";
}

/** What stands beside a figure, in one cell. */
export function beside(figure) {
  return figure.beside.map(({ what, measured, unit }) => `${what} ${number(measured, unit)}`).join("; ");
}
