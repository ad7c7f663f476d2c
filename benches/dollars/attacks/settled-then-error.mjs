// Cashed, and then an error.

export default {
  name: "an error after payment",
  tries: "cashes each payment and answers 500; the agent asks four times in all",
  known: "handlers that fail after settlement",
  needs: ["once"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => {
      if (!request.payment) return shop.charge(request, [shop.offer({ units: 50_000n, payTo: stage.payee })]);
      await shop.cash(request.payment);
      request.reply.writeHead(500, { "content-type": "text/plain" });
      return request.reply.end("try again");
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 50_000n, tries: 4 });
  },
};
