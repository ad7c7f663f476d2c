// Paid, and charged again.

export default {
  name: "a second 402 after payment",
  tries: "cashes each payment and answers it with new terms, as if none had come; the agent asks four times in all",
  known: "x402-foundation/x402#3387 and #3438: a fresh nonce for each retry",
  needs: ["once"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => {
      if (request.payment) await shop.cash(request.payment);
      return shop.charge(request, [shop.offer({ units: 50_000n, payTo: stage.payee })]);
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 50_000n, tries: 4 });
  },
};
