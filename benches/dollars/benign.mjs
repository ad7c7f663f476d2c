// Honest purchases in the forms that sellers give them. Each must end with the goods, paid once at the stated price; a refusal is
// a wrong one. A case that a protocol version cannot say is left out for buyers of that version (`speaks`).

import { setTimeout as after } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { GOODS } from "./stage/shop.mjs";
import { CAP } from "./stage/allowed.mjs";

/** All of them together have to fit into the budget. */
const CENT = 5_000n;

/**
 * `terms(shop, payee)` makes the offers; `sell(request, shop, hash)`
 * delivers; `ask` is added to the call; `price` is what is paid.
 */
export const BENIGN = [
  { name: "a page that costs nothing", price: 0n, free: true },
  { name: "half a cent, GET" },
  { name: "a tenth of a cent", price: 1_000n },
  { name: "one millionth of a dollar", price: 1n },
  { name: "exactly the cap", price: CAP },
  { name: "POST with a JSON body", ask: { method: "POST", body: '{"order":"two pens","note":"wörld"}' } },
  { name: "a query with encoded words", path: "/goods?q=two%20pens&sort=-price&x=%C3%B6" },
  { name: "a long path", path: `/v1/${"segment/".repeat(20)}goods` },
  { name: "addresses in lower case", terms: (shop, payee) => [lower(shop.offer({ units: CENT, payTo: payee }))] },
  { name: "a payment for ten seconds", terms: (shop, payee) => [shop.offer({ units: CENT, payTo: payee, seconds: 10 })] },
  { name: "a payment for an hour", terms: (shop, payee) => [shop.offer({ units: CENT, payTo: payee, seconds: 3_600 })] },
  { name: "words nobody knows in the offer", terms: (shop, payee) => [shop.offer({ units: CENT, payTo: payee, words: { outputSchema: { input: { type: "http" } }, loyalty: 7 } })] },
  { name: "more in `extra`", terms: (shop, payee) => [more(shop.offer({ units: CENT, payTo: payee }))] },
  { name: "an offer on another chain beside it", terms: (shop, payee) => [elsewhere(shop, payee), shop.offer({ units: CENT, payTo: payee })] },
  { name: "a dearer offer behind it", terms: (shop, payee) => [shop.offer({ units: CENT, payTo: payee }), shop.offer({ units: 30_000n, payTo: payee })] },
  { name: "a second of thought before the terms", slow: 1_000 },
  { name: "three seconds of thought before the goods", late: 3_000 },
  { name: "a page of 200 KiB", sell: (request, shop, hash) => shop.deliver(request, hash, { body: `{"goods":"${GOODS}","more":"${"x".repeat(200 * 1024)}"}` }) },
  { name: "goods in gzip, if the buyer takes it", sell: (request, shop, hash) => (/\bgzip\b/.test(request.headers["accept-encoding"] ?? "") ? zipped(request, shop, hash) : shop.deliver(request, hash)) },
  { name: "goods in gzip, whatever the buyer takes", sell: zipped },
  { name: "goods in plain text", sell: (request, shop, hash) => shop.deliver(request, hash, { headers: { "content-type": "text/plain; charset=utf-8" }, body: `Here: ${GOODS}, naïve` }) },
  { name: "a status of 201", sell: (request, shop, hash) => created(request, shop, hash) },
  { name: "no word of settlement", sell: ({ reply }) => reply.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ goods: GOODS })) },
  { name: "two things from one seller", times: 2 },
  { name: "three things at once", times: 3, together: true },
].map((benign) => ({ price: CENT, path: "/goods", times: 1, ...benign }));

/** Plays all with one wallet. Resolves to `[{ name, sold, paid, text }]`: whether all goods came, and exactly their price was paid. */
export async function playBenign(corpus, stage) {
  const shops = [];
  for (const benign of corpus) shops.push(await stage.shop((request, shop) => answer(benign, request, shop, stage.payee)));
  await stage.ready();
  const results = [];
  for (const [number, benign] of corpus.entries()) {
    const before = await stage.wealth();
    const answers = await callsOf(benign, shops[number], stage);
    const due = benign.price * BigInt(benign.times);
    results.push({
      name: benign.name,
      sold: answers.every(({ ok }) => ok),
      paid: before - (await stage.wealth()) === due,
      text: answers.map(({ text }) => text.slice(0, 300)).join(" | "),
    });
  }
  return results;
}

async function answer({ price, terms, sell, free, slow, late }, request, shop, payee) {
  if (free) return shop.deliver(request, undefined);
  if (slow) await after(slow);
  const offers = terms ? terms(shop, payee) : [shop.offer({ units: price, payTo: payee })];
  const hash = request.payment && await shop.cash(request.payment);
  if (!hash) return shop.charge(request, offers);
  if (late) await after(late);
  return sell ? sell(request, shop, hash) : shop.deliver(request, hash);
}

async function callsOf({ path, ask, price, times, together }, shop, stage) {
  const calls = Array.from({ length: times }, (_, number) =>
    () => stage.want({ url: `${shop.origin}${path}${number === 0 ? "" : `/${number}`}`, ...ask }, { allow: price }));
  if (together) return Promise.all(calls.map((call) => call()));
  const answers = [];
  for (const call of calls) answers.push(await call());
  return answers;
}

function lower(offer) {
  return { ...offer, payTo: offer.payTo.toLowerCase(), asset: offer.asset.toLowerCase() };
}

function more(offer) {
  return { ...offer, extra: { ...offer.extra, facilitator: "one of the usual ones", tags: ["a", "b"] } };
}

/** The same token's name on a chain that no buyer here pays on. */
function elsewhere(shop, payee) {
  const network = shop.version === 2 ? "eip155:8453" : "base";
  return { ...shop.offer({ units: CENT, payTo: payee, asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", name: "USD Coin" }), network };
}

function zipped(request, shop, hash) {
  shop.deliver(request, hash, { headers: { "content-encoding": "gzip" }, body: gzipSync(`{"goods":"${GOODS}"}`) });
}

function created({ reply, payment }, shop, hash) {
  reply.writeHead(201, { "content-type": "application/json", ...shop.settlement(payment, hash) });
  reply.end(JSON.stringify({ goods: GOODS }));
}
