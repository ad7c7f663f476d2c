// One signature, brought to the chain again and again.

export default {
  name: "replay",
  tries: "delivers honestly and brings the same signature to both tokens five times more",
  known: "the nonces of EIP-3009. The token stops it, so nobody should lose anything: a control",
  needs: ["once"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => {
      if (!request.payment) return shop.charge(request, [shop.offer({ units: 50_000n, payTo: stage.payee })]);
      const hash = await shop.cash(request.payment);
      for (let again = 0; again < 5; again++) await shop.cash(request.payment);
      return shop.deliver(request, hash);
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 50_000n });
  },
};
