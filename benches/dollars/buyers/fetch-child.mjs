// The buyers of the x402 project for JavaScript as processes: `x402` is @x402/fetch, `legacy` is x402-fetch. Each is set up as
// its README shows, and with `strict` with everything that its README offers against spending too much.

import dns from "node:dns";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const peers = createRequire(new URL("../../../tests/peers/package.json", import.meta.url));
const { privateKeyToAccount } = peers("viem/accounts");

const [library] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const settings = JSON.parse((await lines.next()).value);

// Every name is on loopback here, so that no system file is touched.
dns.lookup = (_name, options, found) => {
  const done = typeof options === "function" ? options : found;
  return options.all ? done(null, [{ address: settings.address, family: 4 }]) : done(null, settings.address, 4);
};
let before = Promise.resolve();
const account = privateKeyToAccount(settings.key);
const lower = (text) => String(text).toLowerCase();
const payees = settings.payees.map(lower);
const listed = (offers) => offers.filter(({ payTo }) => payees.includes(lower(payTo)));

/** @x402/fetch 2: spend controls, a policy for payees, the cheapest offer, and a hook before each payment. */
function current(expect) {
  const { wrapFetchWithPayment, x402Client } = peers("@x402/fetch");
  const { ExactEvmScheme } = peers("@x402/evm/exact/client");
  const { ExactEvmSchemeV1 } = peers("@x402/evm/exact/v1/client");
  const client = new x402Client(settings.strict ? (_version, offers) => cheapest(offers) : undefined)
    .register(settings.network, new ExactEvmScheme(account))
    .registerV1("base-sepolia", new ExactEvmSchemeV1(account));
  if (settings.strict) {
    const cap = expect ?? settings.cap;
    client.setSpendControls({
      maxAmountPerPayment: `$${Number(settings.cap) / 1e6}`,
      allowedAssets: [{ network: settings.network, asset: settings.usdc, maxAmountPerPayment: cap }],
    });
    client.registerPolicy((_version, offers) => listed(offers));
    client.onBeforePaymentCreation(async ({ selectedRequirements: { amount, maxAmountRequired } }) => {
      const dear = settings.approveOver && BigInt(amount ?? maxAmountRequired) > BigInt(settings.approveOver);
      return dear ? { abort: true, reason: "nobody approved it" } : undefined;
    });
  }
  return wrapFetchWithPayment(fetch, client);
}

function cheapest(offers) {
  const price = ({ amount, maxAmountRequired }) => BigInt(amount ?? maxAmountRequired);
  return [...offers].sort((one, other) => (price(one) < price(other) ? -1 : 1))[0];
}

/** x402-fetch 1: the ceiling, and the selector, which is where a payee can be looked at. */
function legacy(expect) {
  const { wrapFetchWithPayment } = peers("x402-fetch");
  const { createWalletClient, http } = peers("viem");
  const { baseSepolia } = peers("viem/chains");
  const wallet = createWalletClient({ account, chain: baseSepolia, transport: http("http://127.0.0.1:9") });
  if (!settings.strict) return wrapFetchWithPayment(fetch, wallet);
  const select = (offers) => {
    const fit = listed(offers).filter(({ asset, network, scheme }) =>
      lower(asset) === lower(settings.usdc) && network === "base-sepolia" && scheme === "exact");
    if (fit.length === 0) throw new Error("no offer is for a listed payee and token");
    return cheapest(fit);
  };
  const ceiling = BigInt(expect ?? (settings.approveOver ?? settings.cap));
  return wrapFetchWithPayment(fetch, wallet, ceiling, select);
}

for (let next = await lines.next(); !next.done; next = await lines.next()) {
  const { url, method = "GET", body, expect } = JSON.parse(next.value);
  // Purchases may overlap; answers come in the order of the asks, as the asker counts them.
  answer(purchase(url, method, body, expect));
}

function answer(purchase) {
  before = Promise.all([before, purchase]).then(([, said]) => process.stdout.write(`${JSON.stringify(said)}\n`));
}

async function purchase(url, method, body, expect) {
  try {
    const pay = library === "legacy" ? legacy(expect) : current(expect);
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const reply = await pay(url, { method, body, headers });
    const text = await reply.text();
    // What was sold stands at the beginning; the rest would only be carried over the pipe.
    return { status: reply.status, text: text.slice(0, 65_536) };
  } catch (fault) {
    return { fault: true, text: `${fault.message}${fault.cause ? `: ${fault.cause.message}` : ""}` };
  }
}
