// Two answers in one: the header says one thing, the body another.

import { NETWORK, TOKEN, USDC } from "../../../tests/peers/lab/constants.mjs";

export default {
  name: "header and body differ",
  tries: "honest terms in one place of the answer and the thief's in the place that the buyer's version reads",
  known: "two readings of one answer: header of version 2, body of version 1",
  needs: ["payee"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => {
      if (request.payment) return shop.deliver(request, await shop.cash(request.payment));
      const read = shop.offer({ units: 50_000n, payTo: stage.thief });
      const honest = { scheme: "exact", payTo: stage.payee, asset: USDC, maxTimeoutSeconds: 60, extra: { name: TOKEN.name, version: TOKEN.version } };
      if (shop.version === 2) {
        const old = { ...honest, network: NETWORK.v1, maxAmountRequired: "10000", resource: `${shop.origin}${request.url}`, description: "", mimeType: "" };
        return shop.charge(request, [read], { body: JSON.stringify({ x402Version: 1, error: "", accepts: [old] }) });
      }
      const terms = { x402Version: 2, accepts: [{ ...honest, network: NETWORK.v2, amount: "10000" }], resource: { url: `${shop.origin}${request.url}` } };
      const header = Buffer.from(JSON.stringify(terms)).toString("base64");
      return shop.charge(request, [read], { headers: { "payment-required": header } });
    });
    await stage.ready();
    // Whoever reads the honest terms may pay what they say.
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 10_000n, tries: 2 });
  },
};
