// bursar as a buyer: the official MCP client for TypeScript asks `bursar serve` over stdio, once as a
// client of the 2026-07-28 revision and once as one that still says `initialize`. Both share one vault.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const CALL_WITHIN_MS = 30_000;
const ERAS = [
  { era: "modern", mode: "auto" },
  { era: "legacy", mode: "legacy" },
];

export class BursarBuyer {
  name = "bursar";
  clients = [];
  /** It judges payees and remembers purchases. */
  canJudge = true;
  #bursar;

  constructor(bursar) {
    this.#bursar = bursar;
  }

  get bursar() {
    return this.#bursar;
  }

  get rules() {
    return this.#bursar.rules;
  }

  /** Starts a vault and a client of each era. `setup` is what `Bursar.init` takes. */
  async start(setup, fund) {
    this.payer = await this.#bursar.init(setup);
    await fund(this.payer);
    await this.#bursar.open({ budget: "1.00 USD", minutes: 60 });
    for (const { era, mode } of ERAS) {
      const client = new Client({ name: "bursar-peers", version: "0.0.0" }, { versionNegotiation: { mode } });
      this.clients.push({ era, client });
      await client.connect(new StdioClientTransport({ ...this.#bursar.serve, stderr: "inherit" }));
      if (client.getProtocolEra() !== era) {
        throw new Error(`bursar serve spoke ${client.getNegotiatedProtocolVersion()} to a ${era} client`);
      }
      const { tools } = await client.listTools();
      const fetch = tools.find(({ name }) => name === "x402_fetch");
      if (!fetch?.outputSchema) throw new Error("bursar serve offers no x402_fetch with an output schema");
    }
  }

  /** One purchase. The client library checks the answer against the tool's own output schema. */
  async buy({ client }, { url, method, body }) {
    const ask = { name: "x402_fetch", arguments: argumentsOf({ url, method, body }) };
    const answer = await client.callTool(ask, { timeout: CALL_WITHIN_MS });
    const text = JSON.stringify(answer);
    return { outcome: answer.structuredContent?.outcome ?? `no outcome in ${text.slice(0, 200)}`, text, ask, answer };
  }

  async nonces() {
    return this.#bursar.nonces();
  }

  async stop(options) {
    for (const { client } of this.clients) await client.close();
    await this.#bursar.stop(options);
  }
}

/** The purchase in the words of the tool. */
function argumentsOf({ url, method, body }) {
  return body === undefined ? { url, method } : { url, method, body, body_type: "json" };
}
