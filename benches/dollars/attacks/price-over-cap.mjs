// Ninety cents for a thing of a cent.

export default {
  name: "ninety cents",
  tries: "the honest payee asks for more than the operator's cap of five cents and less than a dollar",
  known: "x402-redteam `unit_confusion` (a thousandfold: under the usual dollar)",
  needs: ["cap"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => request.payment
      ? shop.deliver(request, await shop.cash(request.payment))
      : shop.charge(request, [shop.offer({ units: 900_000n, payTo: stage.payee })]));
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 0n, tries: 2 });
  },
};
