// The first view: what needs a person, budgets, limits, charts, and what is unresolved.

import { bar, burnDown } from "./charts.js";
import { by, countdown, h, isDriven, keep, say, show, time } from "./dom.js";
import { newest, unresolved } from "./lists.js";

export function overview(state, thaw) {
  banners(state, thaw);
  show(by("budgets"), [state.budgets, state.limits], ([all, limits]) => [budgets(all), limits.map(limit)].flat());
  by("charts-part").hidden = state.charts.length === 0;
  by("charts-hint").hidden = state.charts_from_s === null;
  show(by("charts-hint"), state.charts_from_s, (from) => ["Drawn from the newest 400 payments, so from ", time(from ?? 0), " on; what went before is not drawn."]);
  keep(by("charts"), state.charts, (chart) => chart.of, () => h("div"), (place, chart) => show(place, chart, burnDown));
  show(by("unresolved"), state.unresolved, unresolved);
  show(by("newest"), state.payments.slice(0, 5), newest);
}

function banners(state, thaw) {
  const all = [];
  if (state.latched !== null) all.push({ key: "latched", kind: "bad", text: `Payments are shut after a fault: ${state.latched}` });
  if (state.frozen !== null) all.push({ key: "frozen", kind: "bad", text: `Frozen: ${state.frozen}`, thaw: !isDriven });
  const waiting = state.approvals.filter((one) => one.is === "waiting").length;
  if (waiting > 0) all.push({ key: "waiting", kind: "odd", text: waiting === 1 ? "A purchase waits for your yes or no. " : `${waiting} purchases wait for your yes or no. `, link: true });
  else if (state.next !== null && state.frozen === null) all.push({ key: "next", kind: "odd", text: `Next: ${state.next}` });
  for (const note of state.notes) all.push({ key: `note ${note.text}`, kind: note.kind, text: note.text });
  for (const held of state.held) all.push({ key: `held ${held}`, kind: "plain", text: `${held} set aside in payments that are not resolved` });
  keep(by("banners"), all, (one) => one.key, (one) => {
    const place = h("div", { class: `banner ${one.kind}` }, h("p", {}, h("span"), one.link && h("a", { href: "#approvals" }, "Look at its terms")));
    if (one.thaw) place.append(thawForm(thaw));
    return place;
  }, (place, one) => say(place.firstChild.firstChild, one.text));
}

function thawForm(thaw) {
  const passphrase = h("input", { id: "thaw-passphrase", type: "password", autocomplete: "off", required: true });
  const says = h("p", { class: "says bad", role: "alert" });
  const button = h("button", {}, "Thaw");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    say(says, "");
    const reply = await thaw(passphrase.value);
    passphrase.value = "";
    button.disabled = false;
    if (!reply.ok) say(says, reply.told.message);
  };
  return h("form", { submit, class: "fields" },
    h("div", {}, h("label", { for: "thaw-passphrase" }, "Operator passphrase, to allow payments again"), passphrase),
    h("div", {}, button), says);
}

function budgets(all) {
  if (all.length === 0) return h("p", { class: "none" }, "No budget was opened yet.");
  return all.map((budget) => h("div", { class: "card" },
    h("div", { class: "pair" }, h("h4", {}, budget.name),
      h("span", { class: `badge ${budget.is === "open" ? "good" : ""}` }, budget.is)),
    h("div", { class: "pair" }, h("span", { class: "figure" }, budget.left), h("span", { class: "small" }, `left of ${budget.whole}`)),
    bar(budget.permille, `${budget.spent} of ${budget.whole} spent`),
    h("div", { class: "pair small" }, h("span", {}, `${budget.spent} spent`), budget.is === "open" && countdown(budget.ends_s)),
    budget.purpose !== null && h("p", { class: "small" }, `For: ${budget.purpose}`)));
}

function limit(limit) {
  return h("div", { class: "card" },
    h("div", { class: "pair" }, h("h4", {}, `limit: ${limit.of}`)),
    h("div", { class: "pair" }, h("span", { class: "figure" }, limit.left), h("span", { class: "small" }, `left of ${limit.whole}`)),
    bar(limit.permille, `${limit.used} of ${limit.whole} used`),
    h("div", { class: "small" }, `${limit.used} used`));
}
