// What every part of the lab agrees on. No secrets: keys are made at start and never written.

export const CHAIN_ID = 84532;
export const NETWORK = { v1: "base-sepolia", v2: `eip155:${CHAIN_ID}` };

/** Where Circle put USDC on Base Sepolia; the lab puts the same contract at the same place. */
export const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
export const TOKEN = { name: "USDC", version: "2", symbol: "USDC", currency: "USD", decimals: 6 };

/** The only name the sellers' certificate is good for. Nothing resolves it: buyers are told where it is. */
export const HOST = "shop.test";
export const LOOPBACK = "127.0.0.1";

/**
 * Every seller: its protocol generation, and a payee of its own, so that a balance says who was paid. Nobody holds the keys of
 * these addresses. `v2` and `v1` are the Express ones, by which recordings are named.
 */
export const SELLERS = {
  v2: { version: "v2", payee: "0xf3561d35CE34C2BDebBA4BdA5910534f6575CB09", script: "seller-v2.mjs" },
  v1: { version: "v1", payee: "0x193b13c8Ff1DDC6B364F659eDAf4dAD3399138D4", script: "seller-v1.mjs" },
  hono: { version: "v2", payee: "0x5e11e00000000000000000000000000000000003", script: "seller-hono.mjs" },
  fastapi: { version: "v2", payee: "0x5e11e00000000000000000000000000000000004", script: "seller_fastapi.py" },
  flask: { version: "v2", payee: "0x5e11e00000000000000000000000000000000005", script: "seller_flask.py" },
  "python-v1": { version: "v1", payee: "0x5e11e00000000000000000000000000000000006", script: "seller_python_v1.py" },
  axum: { version: "v2", payee: "0x5e11e00000000000000000000000000000000007", script: "../axum/src/main.rs" },
  "axum-v1": { version: "v1", payee: "0x5e11e00000000000000000000000000000000008", script: "../axum/src/main.rs" },
};
export const PAYEE = Object.fromEntries(Object.entries(SELLERS).map(([seller, { payee }]) => [seller, payee]));
/** Paid by /swapped only, and by no rule of the buyer. */
export const STRANGER = "0x9958855021134Ba098b0372Ca0F9039343162b5F";

/** A token that no rule allows. It is asked for by /foreign only, and is on no chain. */
export const FOREIGN = { address: "0x000000000000000000000000000000000F02e160", name: "Foreign", version: "1", decimals: 6 };

/** What the shops sell. Prices as the sellers' libraries take them; `units` is the same in millionths. */
export const GOODS = [
  { method: "GET", path: "/cheap", price: "$0.001", units: 1_000n },
  { method: "GET", path: "/normal", price: "$0.01", units: 10_000n },
  { method: "GET", path: "/article", price: "$0.001", units: 1_000n },
  { method: "GET", path: "/expensive", price: "$5", units: 5_000_000n },
  { method: "GET", path: "/swapped", price: "$0.001", units: 1_000n, payee: STRANGER },
  { method: "GET", path: "/foreign", price: "$0.001", units: 1_000n, foreign: true },
  { method: "POST", path: "/echo", price: "$0.001", units: 1_000n },
];

/** The body of a GET; the word in `goods` is what tests look for in a buyer's answer. */
export function goodsOf(seller, path) {
  return { seller, path, goods: `goods-${seller}-${path.slice(1)}` };
}

/** `/article` as a browser shows it: the same word, and a button that fetches `/normal` from within the page. */
export function articleOf(seller) {
  const { goods } = goodsOf(seller, "/article");
  return `<!doctype html><meta charset="utf-8"><title>${goods}</title><h1>${goods}</h1><p>This page was paid for.</p>
<button onclick="fetch('/normal' + location.search).then(async (reply) => {
  out.textContent = reply.status + ' ' + (await reply.text());
})">More</button><pre id="out"></pre>`;
}

/** Each seller runs three shops that differ only in the facilitator they trust. */
export const TEMPERS = ["honest", "verify-refused", "settle-refused"];
