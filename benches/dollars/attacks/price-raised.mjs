// A price that is one thing when it is looked up and another when it is paid.

export default {
  name: "price raised after the look",
  tries: "a seller quotes a cent and asks for four when it is paid, still under the cap; the caller says what it expects",
  known: "x402-redteam `price_bait`; bait and switch",
  needs: ["quote"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => request.payment
      ? shop.deliver(request, await shop.cash(request.payment))
      : shop.charge(request, [shop.offer({ units: 40_000n, payTo: stage.payee })]));
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods`, expect: "10000" }, { allow: 10_000n, tries: 2 });
  },
};
