// A small answer that is large when it is opened.

import { gzipSync } from "node:zlib";

/** Sixteen MiB of nothing as one member; gzip lets members follow one another. */
const MEMBER = gzipSync(Buffer.alloc(16 << 20), { level: 9 });
const BOMB = Buffer.concat(Array(64).fill(MEMBER));

export default {
  name: "a bomb in the terms",
  tries: "the terms come with a body of one MiB that unpacks to one GiB",
  known: "decompression bombs",
  needs: ["memory"],
  async play(stage) {
    const shop = await stage.shop((request, shop) => {
      if (request.payment) return shop.cash(request.payment).then((hash) => shop.deliver(request, hash));
      const [offer] = [shop.offer({ units: 10_000n, payTo: stage.payee })];
      const terms = shop.version === 2 ? { "payment-required": header(shop, request, offer) } : {};
      request.reply.writeHead(402, { "content-type": "application/json", "content-encoding": "gzip", ...terms });
      request.reply.on("error", () => {});
      return request.reply.end(BOMB);
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 10_000n });
  },
};

function header(shop, { url }, offer) {
  const terms = { x402Version: 2, error: "", accepts: [offer], resource: { url: `${shop.origin}${url}` } };
  return Buffer.from(JSON.stringify(terms)).toString("base64");
}
