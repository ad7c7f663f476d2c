// Five dollars for a thing of a cent.

export default {
  name: "five dollars",
  tries: "the honest payee asks for a hundred times the operator's cap",
  known: "plain overpricing, which every ceiling is against",
  needs: ["dollar", "cap"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => request.payment
      ? shop.deliver(request, await shop.cash(request.payment))
      : shop.charge(request, [shop.offer({ units: 5_000_000n, payTo: stage.payee })]));
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 0n, tries: 2 });
  },
};
