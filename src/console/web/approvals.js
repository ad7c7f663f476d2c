// Purchases that wait for a person. Shows everything that a yes is bound to; the yes names the binding that was shown.

import { by, countdown, h, isDriven, keep, say, time } from "./dom.js";

const NAMES = {
  id: "Id", request: "Request", body: "Body", price: "Price", payee: "Payee", network: "Network", asset: "Asset",
  domain: "Domain", seller: "Seller", session: "Budget", header: "Header",
};

export function approvals(state, decide) {
  const place = by("approval-cards");
  if (state.approvals.length === 0) {
    keep(place, [null], () => "none", () => h("p", { class: "none" }, "No purchase waits for you."), () => {});
    return;
  }
  keep(place, state.approvals, (one) => `${one.id} ${one.binding} ${one.is}`, (one) => card(one, decide), () => {});
}

/** Leads to the card of one purchase; whether there is one. */
export function showCard(id) {
  const card = by(`card-${id}`);
  if (card === null) return false;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "start" });
  return true;
}

function card(one, decide) {
  const title = `approval-${one.id}`;
  return h("article", { class: "card approval", id: `card-${one.id}`, tabindex: -1, "aria-labelledby": title },
    h("div", { class: "pair" },
      h("h3", { id: title }, h("span", { class: "figure" }, one.price)),
      one.is === "waiting" ? h("span", { class: "badge odd" }, "waits for you, ", countdown(one.ends_s))
        : h("span", { class: `badge ${one.is === "approved" ? "good" : ""}` }, `${one.is}, `, countdown(one.ends_s))),
    h("p", { class: "what" }, one.what),
    one.why.length > 0 && [h("p", { class: "small" }, "Why you are asked:"), h("ul", {}, one.why.map((why) => h("li", {}, why)))],
    h("dl", {},
      one.terms.map(([name, value]) => [h("dt", {}, NAMES[name] ?? name), h("dd", {}, value)]),
      h("dt", {}, "Asked"), h("dd", {}, time(one.asked_s)),
      h("dt", {}, "Binding"), h("dd", { class: "mono" }, one.binding)),
    one.is === "waiting" && yes(one, decide),
    one.is === "approved" && no(one, decide, "Take the yes back"));
}

function yes(one, decide) {
  if (isDriven) return h("div", { class: "row" }, no(one, decide, "Deny"));
  const id = (name) => `${name}-${one.id}`;
  const price = h("input", { id: id("price"), type: "text", autocomplete: "off", spellcheck: "false", required: true });
  const passphrase = h("input", { id: id("passphrase"), type: "password", autocomplete: "off", required: true });
  const says = h("p", { class: "says bad", role: "alert" });
  const approve = h("button", { class: "main" }, `Approve ${one.price}`);
  const submit = async (event) => {
    event.preventDefault();
    approve.disabled = true;
    say(says, "");
    const form = { id: one.id, binding: one.binding, price: price.value, passphrase: passphrase.value };
    passphrase.value = "";
    const reply = await decide("approve", form);
    approve.disabled = false;
    if (!reply.ok) say(says, reply.told.message);
  };
  return h("form", { submit },
    h("div", { class: "fields" },
      h("div", {}, h("label", { for: id("price") }, `Type the price (${one.price})`), price),
      h("div", {}, h("label", { for: id("passphrase") }, "Operator passphrase"), passphrase)),
    says,
    h("div", { class: "row" }, approve, no(one, decide, "Deny")));
}

function no(one, decide, word) {
  const deny = h("button", { type: "button", class: "danger" }, word);
  deny.addEventListener("click", async () => {
    deny.disabled = true;
    await decide("deny", { id: one.id });
    deny.disabled = false;
  });
  return deny;
}
