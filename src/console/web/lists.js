// Tables: payments, refusals, events, hosts and payees. On a narrow page each row is a card.

import { by, countdown, h, show, time } from "./dom.js";

/** A table whose parts keep their roles however they are laid out. */
function table(caption, heads, rows, none) {
  if (rows.length === 0) return h("p", { class: "none" }, none);
  return h("table", { role: "table", "aria-label": caption },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((head) => h("th", { role: "columnheader", scope: "col" }, head)))),
    h("tbody", { role: "rowgroup" }, rows.map((cells) => h("tr", { role: "row" },
      cells.map((cell, at) => h("td", { role: "cell", "data-label": heads[at] }, h("div", cell?.attributes ?? {}, cell?.inner ?? cell)))))));
}

const money = (inner) => ({ inner, attributes: { class: "money" } });
const mono = (inner) => ({ inner, attributes: { class: "mono" } });
const short = (inner) => ({ inner: String(inner), attributes: { class: "when" } });
const when = (seconds) => ({ inner: time(seconds), attributes: { class: "when" } });

const STATES = {
  held: ["set aside", "odd"], exposed: ["open", "odd"], settled: ["settled", "good"],
  presumed_spent: ["presumed spent", "bad"], lapsed: ["not used", ""], voided: ["voided", ""],
};

function state(payment) {
  const [word, kind] = STATES[payment.is] ?? [payment.is, ""];
  return h("span", { class: `badge ${kind}`, title: payment.known_by }, word);
}

export const newest = (payments) => table("Newest payments", ["When", "Price", "State", "For"],
  payments.map((one) => [when(one.at_s), money(one.money), state(one), one.what]), "Nothing was paid yet.");

export const unresolved = (open) => table("Unresolved payments", ["Payment", "Price", "Payee", "For", "Usable"],
  open.map((one) => [mono(one.payment), money(one.money), mono(one.payee), one.what, countdown(one.ends_s)]),
  "None.");

export function lists(state_) {
  show(by("payment-list"), state_.payments, payments);
  show(by("refusal-list"), state_.refusals, refusals);
  show(by("host-list"), state_.hosts, (hosts) => people("Host", hosts, "No host is known."));
  show(by("payee-list"), state_.payees, (payees) => people("Payee", payees, "No payee is known."));
  show(by("event-list"), state_.acts, events);
}

const payments = (all) => table("Payments", ["When", "Price", "State", "For", "Payee", "Budget", "Known by"],
  all.map((one) => [when(one.at_s), money(one.money), state(one), one.what, mono(one.payee), one.budget,
    one.transaction === null ? one.known_by : [one.known_by, h("br"), h("span", { class: "mono" }, one.transaction)]]),
  "Nothing was paid yet.");

const refusals = (all) => table("Refusals", ["When", "What was asked, and every reason"],
  all.map((one) => [when(one.at_s), one.detail]), "Nothing was refused.");

const events = (all) => table("Events", ["#", "When", "What", "Payment", "Detail"],
  all.map((one) => [short(one.seq), when(one.at_s), short(one.kind), mono(one.payment ?? ""), one.detail]), "Nothing happened yet.");

function people(head, all, none) {
  return table(`${head}s`, [head, "Payments", "Money", "Last", "Standing"], all.map((one) => [
    mono(one.who), String(one.payments), money(one.money.length === 0 ? "–" : one.money.join(", ")),
    one.last_s === null ? "never" : when(one.last_s), standing(one),
  ]), none);
}

function standing(one) {
  const says = [];
  if (one.quarantined_until_s !== null) says.push(h("span", { class: "badge bad" }, "in quarantine, ", countdown(one.quarantined_until_s)));
  if (one.lost > 0) says.push(h("span", { class: "badge bad" }, one.lost === 1 ? "1 payment lost" : `${one.lost} payments lost`));
  if (one.listed) says.push(h("span", { class: "badge" }, "in the rules"));
  return says;
}
