// The glue socket of a bursar vault, for a program that holds a browser: one ask, one reply, as JSON behind its length.
//
// Whoever runs this is trusted with payment headers. Keep `redeem` away from a model, and its answer out of logs.

import { once } from "node:events";
import { statSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";

const PROTOCOL = 9;
const LONGEST_REPLY = 1024 * 1024;

export class Glue {
  #socket;
  #heard = Buffer.alloc(0);
  #waiting;

  /** `socket` is `run/glue.sock` in the profile's folder; `session` is the name of the budget. */
  static async open(socket, session = "default") {
    const folder = statSync(dirname(socket));
    if (folder.uid !== process.getuid() || (folder.mode & 0o077) !== 0) {
      throw new Error(`${dirname(socket)} is not yours alone, so who listens there is not known`);
    }
    const glue = new Glue();
    glue.#socket = connect(socket);
    await once(glue.#socket, "connect");
    glue.#socket.on("data", (bytes) => glue.#hear(bytes));
    glue.#socket.on("close", () => glue.#end(new Error("the vault closed the glue socket")));
    await glue.#ask({ hello: { protocol: PROTOCOL, session } });
    return glue;
  }

  /** The next payment to make: `{ handle, url, method, open, expires_in_s }`. Waits until there is one. */
  async next() {
    for (;;) {
      const reply = await this.#ask("next");
      if (reply !== "idle") return reply.attach;
    }
  }

  /** The header will be put onto the request as soon as it is made. */
  armed = (handle) => this.#ask({ armed: { handle } });

  /** It cannot be made, and nothing was redeemed; `why` is `no_browser`, `page_gone` or `timeout`. */
  refuse = (handle, why) => this.#ask({ refuse: { handle, why } });

  /** `{ name, value }` for the one request that is in hand. From here on the money counts as spent. */
  async redeem(handle, url) {
    return (await this.#ask({ redeem: { handle, url } })).redeemed.header;
  }

  /** What came back: the status and the headers, or why nothing did. */
  async report(handle, { status, headers = {}, why }) {
    const delivery = status === undefined
      ? { silence: { why } }
      : { answer: { status, content: null, content_error: null } };
    const report = { delivery, settlement: settlementIn(headers) };
    return (await this.#ask({ report: { handle, report } })).reported.receipt;
  }

  close() {
    this.#socket.destroy();
  }

  #ask(ask) {
    if (this.#waiting) throw new Error("the vault was not heard out; ask one thing after another");
    const words = Buffer.from(JSON.stringify(ask));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(words.length);
    this.#socket.write(Buffer.concat([length, words]));
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  #hear(bytes) {
    this.#heard = Buffer.concat([this.#heard, bytes]);
    if (this.#heard.length < 4) return;
    const length = this.#heard.readUInt32BE();
    if (length > LONGEST_REPLY) return void this.#socket.destroy();
    if (this.#heard.length < 4 + length) return;
    const reply = JSON.parse(this.#heard.subarray(4, 4 + length).toString("utf8"));
    this.#heard = this.#heard.subarray(4 + length);
    const { resolve, reject } = this.#waiting;
    this.#waiting = undefined;
    if (!reply.fault) return resolve(reply);
    reject(Object.assign(new Error(reply.fault.message), { code: reply.fault.code }));
  }

  #end(fault) {
    this.#waiting?.reject(fault);
    this.#waiting = undefined;
  }
}

/** The seller's word on the settlement, which the vault believes only as far as it agrees with the payment. */
function settlementIn(headers) {
  const value = headers["payment-response"] ?? headers["x-payment-response"];
  if (!value) return null;
  const text = (member, most) => (typeof member === "string" && member !== "" ? member.slice(0, most) : null);
  try {
    const said = JSON.parse(Buffer.from(value, "base64").toString("utf8"));
    return {
      success: said.success === true,
      transaction: /^0x[0-9a-f]{64}$/i.test(said.transaction) ? said.transaction.toLowerCase() : null,
      network: text(said.network, 64),
      payer: text(said.payer, 64),
      reason: text(said.errorReason, 140),
    };
  } catch {
    return { success: false, transaction: null, network: null, payer: null, reason: "unreadable settlement header" };
  }
}
