// What every client is asked to do, in one order, whatever library speaks underneath. Prints one JSON line a step; the
// checks are in checks.mjs. `speak/conversation.py` and `examples/rmcp_client.rs` say the same in their languages.

/**
 * `client` has `tools()`, `call(name, args, { heard, signal })` and `version()`; `asks` are the arguments of each step.
 * A cancelled call may end in any way; what became of it is asked again with the same arguments.
 */
export async function converse(client, asks) {
  say("tools", { version: client.version(), tools: await client.tools() });
  say("status", await client.call("payment_session_status", {}));
  say("quote", await client.call("x402_quote", asks.quote));
  const heard = [];
  say("buy", { ...await client.call("x402_fetch", asks.buy, { heard: (stage) => heard.push(stage) }), heard });
  say("again", await client.call("x402_fetch", asks.buy));
  say("refused", await client.call("x402_fetch", asks.refused));
  say("nonsense", await client.call("x402_fetch", asks.nonsense));

  const ending = new AbortController();
  const paying = (stage) => stage >= PAYING && ending.abort(new Error("changed my mind"));
  const cut = await client.call("x402_fetch", asks.slow, { heard: paying, signal: ending.signal }).then(
    () => "answered", () => "cancelled");
  say("cancel", { cut });
  say("collected", await client.call("x402_fetch", asks.slow));
}

/** The stage at which the payment is with the seller. */
const PAYING = 5;

function say(step, what) {
  process.stdout.write(`${JSON.stringify({ step, ...what })}\n`);
}

export function settings() {
  return JSON.parse(process.argv[2]);
}
