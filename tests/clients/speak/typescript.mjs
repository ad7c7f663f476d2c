// The official client for TypeScript, second generation, in the era that the settings name.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { converse, settings } from "./conversation.mjs";

const { serve, era, asks } = settings();
const client = new Client({ name: "typescript", version: "2" }, { versionNegotiation: { mode: era === "modern" ? "auto" : "legacy" } });
await client.connect(new StdioClientTransport({ ...serve, stderr: "ignore" }));
await converse({
  version: () => client.getNegotiatedProtocolVersion(),
  tools: async () => (await client.listTools()).tools,
  call: (name, args, { heard, signal } = {}) =>
    client.callTool({ name, arguments: args }, { signal, onprogress: heard && (({ progress }) => heard(progress)) }),
}, asks);
await client.close();
