// An amount that one reader calls nothing and another one a dollar and more.

export default {
  name: "an amount in hexadecimal",
  tries: "the amount is written 0x2dc6c0, which a check by decimal digits may pass and a signer reads as three dollars",
  known: "amounts with several readings: x402-redteam `unit_confusion`, arc-escrow#44",
  needs: ["dollar", "cap"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => request.payment
      ? shop.deliver(request, await shop.cash(request.payment))
      : shop.charge(request, [shop.offer({ units: "0x2dc6c0", payTo: stage.payee })]));
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 0n, tries: 2 });
  },
};
