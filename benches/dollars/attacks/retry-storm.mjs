// Nothing but a connection that breaks, and clients that try again by themselves.

export default {
  name: "retry storm",
  tries: "cashes each payment and breaks the connection; the agent asks four times in all, twice of them at once",
  known: "x402-foundation/x402#1062, #3387; HTTP clients that retry on a reset (reqwest#561)",
  needs: ["once"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => {
      if (!request.payment) return shop.charge(request, [shop.offer({ units: 50_000n, payTo: stage.payee })]);
      await shop.cash(request.payment);
      return request.socket.destroy();
    });
    await stage.ready();
    const ask = { url: `${shop.origin}/goods` };
    await stage.want(ask, { allow: 50_000n, tries: 2 });
    await Promise.all([stage.once(ask), stage.once(ask)]);
  },
};
