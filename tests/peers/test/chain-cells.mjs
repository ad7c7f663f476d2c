// What the chain proves: payments that were settled, never sent, cancelled; an endpoint that lies, one that is dead; a
// wallet that is too empty. Each buyer here has a sandbox of its own. The chain's time is moved at the end, so that these
// come after every other purchase.

import { isDeepStrictEqual } from "node:util";
import { Bursar } from "./bursar.mjs";
import { BursarBuyer } from "./buyer-bursar.mjs";
import { openEndpoint } from "./liar.mjs";
import { accountOf } from "./wallet-key.mjs";
import { NETWORK } from "../lab/constants.mjs";

const FUND_UNITS = 1_000_000n; // 1 USDC
const LIFE_S = 300; // the longest life of a payment under the rules
const SELLER = "v2";

/** Resolves to results like those of the other cells. `stack` takes what has to be ended. */
export async function chainCells({ binary, lab, fronts, token, stack, keep }) {
  const { endpoints, tls } = lab;
  const open = async (rpcs, more, units) => {
    const bursar = new Bursar(binary);
    const buyer = new BursarBuyer(bursar);
    stack.push(() => buyer.stop({ keep }));
    await buyer.start({
      authority: tls.authority,
      host: endpoints.host,
      origins: Object.values(fronts[SELLER]).map(({ origin }) => origin),
      recipients: [endpoints.sellers[SELLER].payee],
      names: rpcs.map((_, number) => `rpc${number}.test`),
      tables: `
[[chain]]
network = ${JSON.stringify(NETWORK.v2)}
rpc = [${rpcs.map(({ port }, number) => JSON.stringify(`http://rpc${number}.test:${port}/`)).join(", ")}]
poll = "1h"
${more}
`,
    }, (payer) => token.mint(payer, units));
    return { bursar, buyer };
  };
  const endpoint = async () => {
    const opened = await openEndpoint(endpoints.chain.rpc);
    stack.push(async () => opened.close());
    return opened;
  };
  let bought = 0;
  const buy = async ({ buyer }, temper, path = "/cheap") => {
    const url = `${fronts[SELLER][temper].origin}${path}?for=chain-${bought++}`;
    return (await buyer.buy(buyer.clients[0], { url, method: "GET" })).answer.structuredContent;
  };

  const rpc = await endpoint();
  const usual = await open([rpc], `balance = "off"`, FUND_UNITS);
  const paid = await buy(usual, "honest");
  const unsent = await buy(usual, "settle-refused");
  const cancelled = await buy(usual, "settle-refused");

  const [honest, other] = [await endpoint(), await endpoint()];
  const two = await open([honest, other], `balance = "off"`, FUND_UNITS);
  const witnessed = await buy(two, "honest");
  const lost = await buy(two, "settle-refused");

  const results = [];
  const cell = async (name, want, check) => {
    const started = performance.now();
    const faults = [];
    const same = (what, got, meant) => {
      if (!isDeepStrictEqual(got, meant)) faults.push(`${what}: ${JSON.stringify(got)}, not ${JSON.stringify(meant)}`);
    };
    await check(same).catch((fault) => faults.push(fault.message));
    const ms = Math.round(performance.now() - started);
    results.push({ cell: { name, seller: SELLER, want }, era: "modern", got: faults.length === 0 ? want : "–", ms, faults });
  };

  await cell("chain: the wallet is too empty, then it is not", "refused", async (same) => {
    const poor = await open([rpc], `balance = "required"`, 999n);
    const refused = await buy(poor, "honest");
    same("outcome and code", [refused.outcome, refused.code], ["refused", "insufficient_balance"]);
    await token.mint(poor.buyer.payer, 10_000n);
    await poor.bursar.reconcile();
    same("outcome once there is money", (await buy(poor, "honest")).outcome, "paid");
  });

  await cell("chain: nothing is final yet, nothing moves", "nothing", async (same) => {
    same("proved", (await usual.bursar.reconcile()).proved, []);
    same("spent", await spent(usual), "0.003 USD");
  });

  await token.cancel(accountOf(usual.bursar.sandbox, usual.bursar.passphrase), await nonceOf(usual, cancelled));
  // What is sent from here on had run out by the chain's time.
  await token.pass(LIFE_S + 120);

  await cell("chain: paid, never sent, cancelled", "proved", async (same) => {
    const { proved } = await usual.bursar.reconcile();
    same("proved", Object.fromEntries(proved), {
      [idOf(paid)]: "confirmed",
      [idOf(unsent)]: "lapsed",
      [idOf(cancelled)]: "lapsed",
    });
    same("spent", await spent(usual), "0.001 USD");
    same("proved again", (await usual.bursar.reconcile()).proved, []);
    const detail = await usual.bursar.payment(idOf(paid));
    same("the transaction is the seller's", detail.receipt.transaction, paid.receipt.transaction);
    same("verdict", detail.proof.verdict, "paid");
    same("of the cancelled one", (await usual.bursar.payment(idOf(cancelled))).proof.verdict, "cancelled");
  });

  await cell("chain: an endpoint lies", "nothing", async (same) => {
    other.mood = "liar";
    const { proved, chains } = await two.bursar.reconcile();
    // Both say of the one that was never sent that it was not; of the other one they differ.
    same("proved", Object.fromEntries(proved), { [idOf(lost)]: "lapsed" });
    same("told", /say different things/.test(chains[0].trouble), true);
    const told = await two.bursar.payment(idOf(witnessed));
    same("the payment stays settled, and unproved", [told.receipt.state, told.proof], ["settled", undefined]);
  });

  await cell("chain: an endpoint is dead, then it is not", "proved", async (same) => {
    await token.pass(400); // for the pause after a trouble
    other.mood = "dead";
    const dead = await two.bursar.reconcile();
    same("proved", dead.proved, []);
    same("told of the dead one alone", dead.chains[0].endpoints.map(({ trouble }) => Boolean(trouble)), [false, true]);
    other.mood = "honest";
    await token.pass(400);
    const { proved } = await two.bursar.reconcile();
    same("proved", Object.fromEntries(proved), { [idOf(witnessed)]: "confirmed" });
    same("witnesses", (await two.bursar.payment(idOf(witnessed))).proof.witnesses, 2);
  });
  return results;
}

function idOf({ receipt }) {
  return receipt.payment_id;
}

async function nonceOf({ bursar }, bought) {
  return (await bursar.payment(idOf(bought))).nonce;
}

/** What the budget has spent or set aside. */
async function spent({ bursar }) {
  return (await bursar.status()).sessions[0].spent;
}
