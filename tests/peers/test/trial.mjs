// Tries one cell with one buyer and checks all sides of it: what the buyer says, what went over the wire,
// what the chain says.

import { createHash } from "node:crypto";
import { GOODS, STRANGER, goodsOf } from "../lab/constants.mjs";
import { slugOf } from "./cells.mjs";
import { authorizationOf, settlementOf, statusOf } from "./payment.mjs";

/** Codes that are for the operator; a seller must not learn them through the model. */
const OPERATORS_CODES = ["over_payment_cap", "payee_not_allowed", "asset_not_allowed"];

/**
 * Resolves to `{ cell, era, got, paid, faults, ms, asks, answers, exchanges, authorizations }`; the cell
 * holds if `faults` is empty. Faults are sentences.
 */
export async function tryCell({ cell, era, askers, buyer, front, token, sellers }) {
  const { method, path, seller } = cell;
  const url = `${front.origin}${path}?for=${slugOf(cell, era)}`;
  const holders = { buyer: buyer.payer, ...payeesOf(sellers), stranger: STRANGER };
  front.takeExchanges();
  const before = await balances(token, holders);
  const started = performance.now();

  const ask = (client) => buyer.buy(client, { url, method, body: cell.body });
  const times = cell.shared ? askers : Array(cell.calls).fill(askers[0]);
  const answers = cell.together ? await Promise.all(times.map(ask)) : await inTurn(times, ask);

  const ms = Math.round(performance.now() - started);
  const moved = difference(before, await balances(token, holders));
  const exchanges = front.takeExchanges();
  const authorizations = exchanges.map(({ request }) => authorizationOf(request)).filter(Boolean);

  const check = new Check();
  for (const answer of answers) {
    sayings(check, cell, answer, buyer, exchanges.at(-1)?.reply);
    if (buyer.canJudge) books(check, cell, answer);
  }
  check.same("requests", exchanges.length, cell.requests);
  check.same("authorizations sent", authorizations.length, cell.signs);
  wire(check, cell, exchanges);
  const { units: price, payee = sellers[seller].payee } = GOODS.find((good) => good.path === path) ?? {};
  for (const { from, to, value, nonce } of authorizations) {
    check.same("authorized from", from.toLowerCase(), buyer.payer.toLowerCase());
    check.same("authorized to", to.toLowerCase(), payee.toLowerCase());
    check.same("authorized amount", BigInt(value), price);
    check.same("nonce used on the chain", await token.nonceUsed(from, nonce), cell.units > 0n);
  }
  for (const [who, change] of Object.entries(moved)) {
    const meant = { buyer: -cell.units, [seller]: cell.units }[who] ?? 0n;
    check.same(`balance of ${who}`, change, meant);
  }
  return {
    cell, era, ms, exchanges, authorizations, moved, url,
    got: [...new Set(answers.map(({ outcome }) => outcome))].join(", "),
    faults: check.faults,
    asks: answers.map((answer) => answer.ask),
    answers: answers.map((answer) => answer.answer),
  };
}

/** What the buyer told the one who asked. */
function sayings(check, cell, { outcome, text }, buyer, reply) {
  check.same("outcome", outcome, cell.want);
  const goods = goodsOf(cell.seller, cell.path).goods;
  if (cell.text) {
    check.holds("the answer holds the text that was sold", text.includes(cell.text === "goods" ? goods : cell.text));
    const digest = reply && createHash("sha256").update(reply.body).digest("hex");
    if (buyer.canJudge) check.holds("the answer holds the SHA-256 of what the seller sent", text.includes(digest));
  } else {
    check.holds("the answer holds nothing that was not paid for", !text.includes(goods));
  }
  if (buyer.canJudge && cell.want === "refused") {
    check.holds("the answer does not say which rule refused", !OPERATORS_CODES.some((code) => text.includes(code)));
  }
}

/** What the ledger made of it, in bursar's own words: what was paid is settled, and what a seller said no to may still be cashed. */
function books(check, cell, { answer }) {
  const state = { paid: "settled", unresolved: "exposed" }[cell.want];
  check.same("state in the ledger", answer.structuredContent?.receipt?.state, state);
}

/** Both legs ask for the same thing, and the seller said what its temper makes it say. */
function wire(check, cell, exchanges) {
  const [first, ...others] = exchanges;
  if (!first) return;
  check.holds("the first request carries no payment", !authorizationOf(first.request));
  for (const { request } of others) {
    check.same("request line of the paid leg", request.start, first.request.start);
    check.holds("both legs carry the same body", request.body.equals(first.request.body));
  }
  if (cell.body !== undefined) check.same("body as asked for", first.request.body.toString("utf8"), cell.body);
  const last = exchanges.at(-1).reply;
  if (!last) return check.holds("the seller answered", false);
  check.same("last status", statusOf(last), { paid: 200, free: 200 }[cell.want] ?? 402);
  check.same("seller says it settled", settlementOf(last)?.success === true, cell.want === "paid");
}

/** Collects what was not so, in sentences. */
export class Check {
  faults = [];

  same(what, got, meant) {
    if (got !== meant) this.faults.push(`${what}: ${got}, not ${meant}`);
  }

  holds(what, fact) {
    if (!fact) this.faults.push(`not so: ${what}`);
  }
}

/** Who is paid at each seller. */
export function payeesOf(sellers) {
  return Object.fromEntries(Object.entries(sellers).map(([version, { payee }]) => [version, payee]));
}

/** What each of `holders` has. */
export async function balances(token, holders) {
  const read = async ([who, address]) => [who, await token.balance(address)];
  return Object.fromEntries(await Promise.all(Object.entries(holders).map(read)));
}

/** What each got or gave in between. */
export function difference(before, now) {
  return Object.fromEntries(Object.entries(now).map(([who, units]) => [who, units - before[who]]));
}

async function inTurn(items, act) {
  const results = [];
  for (const item of items) results.push(await act(item));
  return results;
}
