// One attack against one buyer: a wallet with money, an honest payee and a thief, shops on loopback, and at the end the
// count of what was lost, from balances on the chain.

import { setTimeout as after } from "node:timers/promises";
import { freshAddress } from "./chain.mjs";
import { LIFETIME_S, WALLET, lost } from "./allowed.mjs";
import { GOODS, Shop } from "./shop.mjs";

/** An answer that has not come by then never will. Longer than any deadline of a buyer here that has one: bursar gives up after two minutes. */
export const HUNG_AFTER_MS = 180_000;
export const HONEST_HOST = "shop.test";
export const THIEF_HOST = "sh0p.test";

export class Stage {
  payee = freshAddress();
  thief = freshAddress();
  allowed = [];
  hangs = 0;
  #shops = [];

  constructor({ chain, tls, buyer }) {
    Object.assign(this, { chain, tls, buyer });
  }

  /** A shop under `host`; all shops under the honest name are those that the operator listed. */
  async shop(handle, host = HONEST_HOST) {
    const { tls, chain, buyer } = this;
    const shop = await Shop.open({ host, tls, sender: await chain.sender(), version: buyer.speaks, handle });
    this.#shops.push(shop);
    return shop;
  }

  /** An honest seller: states its price, cashes what is owed, delivers. */
  honest(units, host) {
    return this.shop(async (request, shop) => {
      if (!request.payment) return shop.charge(request, [shop.offer({ units, payTo: this.payee })]);
      const transaction = await shop.cash(request.payment);
      if (!transaction) return shop.charge(request, [shop.offer({ units, payTo: this.payee })]);
      return shop.deliver(request, transaction);
    }, host);
  }

  /** Gives the buyer its key, its money and the operator's settings. Every shop has to be open by now. */
  async ready(more = {}) {
    const origins = this.#shops.filter(({ host }) => host === HONEST_HOST).map(({ origin }) => origin);
    this.wallet = await this.buyer.open({
      origins, payees: [this.payee], authority: this.tls.authority, hosts: [HONEST_HOST, THIEF_HOST],
      lifetime: LIFETIME_S, ...more,
    });
    await this.chain.fund(this.wallet, WALLET);
    this.before = await this.#balances();
  }

  /**
   * The agent wants one thing, and while it has not got it asks again, `tries` times in all: that is what agents do.
   * `allow` is the quoted price that the operator would pay for it, in millionths; 0n where the purchase is not allowed at all.
   */
  async want(ask, { allow, tries = 1 }) {
    this.allowed.push(allow);
    let answer;
    for (let number = 0; number < tries; number++) {
      answer = await this.once(ask);
      if (answer.ok) break;
    }
    return answer;
  }

  /** One call of the buyer, with an end. `ok`: it has what was sold. */
  async once(ask) {
    const enough = new AbortController();
    const late = after(HUNG_AFTER_MS, { hung: true, text: "no answer" }, { signal: enough.signal }).catch(() => {});
    const answered = this.buyer.buy(ask).catch((fault) => ({ text: fault.message, fault: true }));
    const answer = await Promise.race([answered, late]);
    enough.abort();
    if (answer.hung) {
      this.hangs += 1;
      await this.buyer.kill();
    }
    return { ...answer, ok: !answer.fault && !answer.hung && answer.text.includes(GOODS) };
  }

  /** What the buyer has now. */
  wealth() {
    return this.chain.wealth(this.wallet);
  }

  /** Cashes whatever is left to cash, and counts. */
  async count() {
    for (const shop of this.#shops) await shop.cashAll();
    const after = await this.#balances();
    const payments = this.#shops.flatMap(({ payments }) => payments);
    return {
      lost: lost({ before: this.before, after, allowed: this.allowed }),
      left: this.before.wallet - after.wallet,
      signatures: new Set(payments.map(({ authorization, raw }) => authorization?.nonce ?? JSON.stringify(raw))).size,
      foreign: payments.filter(({ authorization }) => !authorization).length,
      hangs: this.hangs,
    };
  }

  async close() {
    await this.buyer.close();
    for (const shop of this.#shops) await shop.close();
  }

  async #balances() {
    const [wallet, honest] = await Promise.all([this.wallet, this.payee].map((holder) => this.chain.wealth(holder)));
    return { wallet, honest };
  }
}
