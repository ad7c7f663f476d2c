// The purchases that are tried, as data. `run.mjs` tries each with every client of a buyer.

import { SELLERS } from "../lab/constants.mjs";

const JSON_BODY = '{"order":"two pens","note":"wörld","lines":[1,2,3]}';

/**
 * `want`: the outcome that the buyer must report.
 * `units`: how much the buyer's balance must fall and the payee's rise, in millionths of a dollar.
 * `signs`: how many authorizations must have gone over the wire. `requests`: how many requests in all.
 * `calls`: how often the identical purchase is asked for; `together` asks at once instead of in turn.
 * `judges`: needs a buyer with rules and a memory. `shared`: every client asks, not each for itself.
 */
export const CELLS = [
  each({ name: "free page", path: "/free", want: "free", requests: 1, text: "goods" }),
  each({ name: "buy, GET", path: "/cheap", want: "paid", units: 1_000n, text: "goods" }),
  each({ name: "buy, GET, ten times the price", path: "/normal", want: "paid", units: 10_000n, text: "goods" }),
  each({ name: "buy, POST", path: "/echo", method: "POST", body: JSON_BODY, want: "paid", units: 1_000n, text: "two pens" }),
  each({ name: "over the cap", path: "/expensive", want: "refused", requests: 1 }),
  each({ name: "token not in the rules", path: "/foreign", want: "refused", requests: 1 }),
  each({ name: "payee not in the rules", path: "/swapped", want: "refused", requests: 1, judges: true }),
  each({ name: "asked twice", path: "/cheap", want: "paid", units: 1_000n, calls: 2, text: "goods", judges: true }),
  each({ name: "asked 5 times at once", path: "/cheap", want: "paid", units: 1_000n, calls: 5, together: true, text: "goods", judges: true }),
  each({ name: "asked by two clients", path: "/cheap", want: "paid", units: 1_000n, shared: true, together: true, text: "goods", judges: true }),
  each({ name: "payment not accepted", path: "/cheap", temper: "verify-refused", want: "unresolved", signs: 1 }),
  each({ name: "payment not settled", path: "/cheap", temper: "settle-refused", want: "unresolved", signs: 1 }),
].flat();

/** The same cell at every seller. What is not said follows from what is. */
function each(cell) {
  const signs = cell.signs ?? (cell.units ? 1 : 0);
  return Object.keys(SELLERS).map((seller) => ({
    method: "GET",
    temper: "honest",
    units: 0n,
    calls: 1,
    together: false,
    judges: false,
    shared: false,
    requests: 1 + signs,
    ...cell,
    signs,
    seller,
  }));
}

/** Names one try of a cell: in its URL, so that no two tries are the same purchase, and in recordings. */
export function slugOf({ seller, name }, era) {
  return [era, seller, name].join(" ").toLowerCase().replace(/[^a-z0-9]+/g, "-");
}
