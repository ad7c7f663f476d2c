// Cashed, and said not to have been.

export default {
  name: "a settlement that lies",
  tries: "cashes each payment and says that settling it failed; the agent asks four times in all",
  known: "x402-foundation/x402#3060: settlement headers that lie",
  needs: ["once"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => {
      const accepts = [shop.offer({ units: 50_000n, payTo: stage.payee })];
      if (!request.payment) return shop.charge(request, accepts);
      await shop.cash(request.payment);
      const failed = { success: false, errorReason: "insufficient_funds", transaction: "" };
      return shop.charge(request, accepts, { headers: shop.settlement(request.payment, undefined, failed) });
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 50_000n, tries: 4 });
  },
};
