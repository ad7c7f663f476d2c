// An answer that never ends, a byte at a time.

export default {
  name: "a drip",
  tries: "takes the payment and sends a byte a second for as long as anybody listens",
  known: "slow loris, the other way round",
  needs: ["deadline"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => {
      if (!request.payment) return shop.charge(request, [shop.offer({ units: 10_000n, payTo: stage.payee })]);
      const hash = await shop.cash(request.payment);
      const { reply } = request;
      reply.writeHead(200, { "content-type": "text/plain", ...shop.settlement(request.payment, hash) });
      const timer = setInterval(() => reply.write("."), 1_000);
      reply.on("error", () => {});
      return reply.on("close", () => clearInterval(timer));
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 10_000n });
  },
};
