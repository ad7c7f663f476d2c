// Between the question and the payment somebody else stands at the name.

export default {
  name: "rebinding between the legs",
  tries: "after the terms were read the name leads to the thief, who takes the payment, cashes it, and asks in his own terms for another",
  known: "DNS rebinding (openclaw#12526). Played by changing who answers at the address",
  needs: ["once", "payee"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => {
      if (shop.requests === 1) return shop.charge(request, [shop.offer({ units: 10_000n, payTo: stage.payee })]);
      if (request.payment) await shop.cash(request.payment);
      return shop.charge(request, [shop.offer({ units: 10_000n, payTo: stage.thief })]);
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 10_000n, tries: 4 });
  },
};
