// The official SDK for TypeScript, first generation, which only knows the handshake.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { LATEST_PROTOCOL_VERSION } from "@modelcontextprotocol/sdk/types.js";
import { converse, settings } from "./conversation.mjs";

const { serve, asks } = settings();
const client = new Client({ name: "typescript", version: "1" });
await client.connect(new StdioClientTransport({ ...serve, stderr: "ignore" }));
await converse({
  version: () => LATEST_PROTOCOL_VERSION,
  tools: async () => (await client.listTools()).tools,
  call: (name, args, { heard, signal } = {}) =>
    client.callTool({ name, arguments: args }, undefined, { signal, onprogress: heard && (({ progress }) => heard(progress)) }),
}, asks);
await client.close();
