// The same thing at two prices, the dear one first.

export default {
  name: "the dear offer first",
  tries: "two offers that differ in the price alone, five cents before one",
  known: "x402-redteam `accepts_ordering`",
  needs: ["cheapest"],
  // A payment of the first generation does not say which offer it takes: sellers hold it against the first one, so that there the
  // first offer is the price.
  speaks: [2],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => request.payment
      ? shop.deliver(request, await shop.cash(request.payment))
      : shop.charge(request, [50_000n, 10_000n].map((units) => shop.offer({ units, payTo: stage.payee }))));
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 10_000n });
  },
};
