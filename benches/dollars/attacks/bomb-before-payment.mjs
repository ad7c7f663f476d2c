// A small answer that is large when it is opened.

import { createGzip } from "node:zlib";
import { Readable } from "node:stream";

const MIB = Buffer.alloc(1 << 20);
const OPENED_MIB = 1_024;

export default {
  name: "a bomb in the terms",
  tries: "the terms come with a body of one MiB that unpacks to one GiB",
  known: "decompression bombs; crush#3480",
  needs: ["memory"],
  async play(stage) {
    const shop = await stage.shop((request, shop) => {
      if (request.payment) return shop.cash(request.payment).then((hash) => shop.deliver(request, hash));
      const [offer] = [shop.offer({ units: 10_000n, payTo: stage.payee })];
      const terms = shop.version === 2 ? { "payment-required": header(shop, request, offer) } : {};
      request.reply.writeHead(402, { "content-type": "application/json", "content-encoding": "gzip", ...terms });
      return zeros(OPENED_MIB).pipe(createGzip({ level: 9 })).on("error", () => {}).pipe(request.reply).on("error", () => {});
    });
    await stage.ready();
    await stage.want({ url: `${shop.origin}/goods` }, { allow: 10_000n });
  },
};

function header(shop, { url }, offer) {
  const terms = { x402Version: 2, error: "", accepts: [offer], resource: { url: `${shop.origin}${url}` } };
  return Buffer.from(JSON.stringify(terms)).toString("base64");
}

function zeros(count) {
  let left = count;
  return new Readable({
    read() {
      this.push(left-- > 0 ? MIB : null);
    },
  });
}
