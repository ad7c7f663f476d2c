// An endpoint before the lab's chain that passes questions on, and lies or hangs up when it is told to.

import { createServer } from "node:http";
import { LOOPBACK } from "../lab/constants.mjs";
import { listen } from "../parts/part.mjs";

const AUTHORIZATION_STATE = "0xe94a0102";

/** Resolves to the endpoint: `port`, `mood` ("honest", "liar" or "dead", to be set) and `close()`. */
export async function openEndpoint(rpc) {
  const endpoint = { mood: "honest" };
  const server = createServer(async (request, reply) => {
    if (endpoint.mood === "dead") return request.socket.destroy();
    const ask = await textOf(request);
    const answer = await fetch(rpc, { method: "POST", headers: { "content-type": "application/json" }, body: ask });
    const told = JSON.parse(await answer.text());
    const { method, params } = JSON.parse(ask);
    // No authorization was ever used, it says.
    const asked = method === "eth_call" && params[0].data.startsWith(AUTHORIZATION_STATE);
    if (endpoint.mood === "liar" && asked) told.result = `0x${"0".repeat(64)}`;
    reply.setHeader("content-type", "application/json");
    reply.end(JSON.stringify(told));
  });
  endpoint.port = await listen(server, LOOPBACK);
  endpoint.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return endpoint;
}

async function textOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}
