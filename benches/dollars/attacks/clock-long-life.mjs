// A payment that is good for years, kept, and cashed when nobody thinks of it any more.

export default {
  name: "a payment that lives for years",
  tries: "asks for a payment that is good for ten years, delivers nothing, and cashes it a day later",
  known: "x402-redteam `authorization_lifetime`; agentpay-guard (validBefore)",
  needs: ["lifetime"],
  ownChain: true,
  async play(stage) {
    const shop = await stage.shop((request, shop) => {
      if (!request.payment) return shop.charge(request, [shop.offer({ units: 50_000n, payTo: stage.payee, seconds: 315_360_000 })]);
      request.reply.writeHead(503, { "content-type": "text/plain" });
      return request.reply.end("later");
    });
    await stage.ready();
    // The operator allows payments that are cashed within the longest life; this one is not, and counts in full.
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 0n });
    await stage.chain.pass(86_400);
  },
};
