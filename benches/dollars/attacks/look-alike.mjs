// A name that reads like the honest one.

import { THIEF_HOST } from "../stage/stage.mjs";

export default {
  name: "look-alike name",
  tries: "the agent is sent to a host whose name reads like the listed one, with a good certificate",
  known: "x402-redteam `lookalike_domain`, x402-foundation/x402#2557",
  needs: ["payee", "site"],
  async play(stage) {
    await stage.honest(10_000n);
    const thief = await stage.shop(async (request, shop) => request.payment
      ? shop.deliver(request, await shop.cash(request.payment))
      : shop.charge(request, [shop.offer({ units: 10_000n, payTo: stage.thief })]), THIEF_HOST);
    await stage.ready();
    await stage.want({ url: `${thief.origin}/goods` }, { allow: 0n, tries: 2 });
  },
};
