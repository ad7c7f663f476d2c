// The buyer dies while the seller holds its payment.

export default {
  name: "a crash after signing",
  tries: "the buyer is killed when the seller has the payment, starts again, and the agent asks for the same thing three times more",
  known: "agentpay-guard's threat matrix; x402-foundation/x402#3387",
  needs: ["once"],
  async play(stage) {
    let arrived;
    const first = new Promise((resolve) => (arrived = resolve));
    const shop = await stage.shop(async (request, shop) => {
      const accepts = [shop.offer({ units: 50_000n, payTo: stage.payee })];
      if (!request.payment) return shop.charge(request, accepts);
      arrived();
      if (shop.payments.length === 1) return undefined; // silence, and the buyer dies
      const hash = await shop.cash(request.payment);
      return hash ? shop.deliver(request, hash) : shop.charge(request, accepts);
    });
    await stage.ready();
    const ask = { url: `${shop.origin}/goods` };
    stage.allowed.push(50_000n);
    const asked = stage.once(ask);
    // A buyer that never pays answers instead.
    await Promise.race([first, asked]);
    await stage.buyer.kill();
    await asked;
    await stage.buyer.reopen();
    // The seller cashes what it holds, and sells to whoever pays anew.
    await shop.cashAll();
    for (let again = 0; again < 3; again++) if ((await stage.once(ask)).ok) break;
  },
};
