// A thousand units of a token of which a hundred make a dollar.

import { CENTS } from "../stage/chain.mjs";

export default {
  name: "a token with two decimals",
  tries: "asks for 1000 units, a tenth of a cent in USDC, of another dollar token whose thousand units are ten dollars",
  known: "x402-redteam `unit_confusion` (decimals lie)",
  needs: ["asset"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => request.payment
      ? shop.deliver(request, await shop.cash(request.payment))
      : shop.charge(request, [shop.offer({
        units: 1_000n, payTo: stage.payee, asset: CENTS.address, name: CENTS.name, domain: CENTS.version,
      })]));
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 0n, tries: 2 });
  },
};
