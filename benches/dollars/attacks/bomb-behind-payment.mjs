// A purchase whose content is as large as the seller likes.

import { once } from "node:events";

const MIB = Buffer.alloc(1 << 20, "x");
const SENT_MIB = 512;

export default {
  name: "a body of half a GiB",
  tries: "takes the payment and answers with 512 MiB",
  known: "unbounded bodies; crush#3480",
  needs: ["memory"],
  async play(stage) {
    const shop = await stage.shop(async (request, shop) => {
      if (!request.payment) return shop.charge(request, [shop.offer({ units: 10_000n, payTo: stage.payee })]);
      const hash = await shop.cash(request.payment);
      const { reply } = request;
      reply.on("error", () => {});
      reply.writeHead(200, { "content-type": "text/plain", ...shop.settlement(request.payment, hash) });
      const gone = once(reply, "close");
      for (let sent = 0; sent < SENT_MIB && !reply.destroyed; sent++) {
        if (!reply.write(MIB)) await Promise.race([once(reply, "drain"), gone]);
      }
      return reply.end();
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 10_000n });
  },
};
