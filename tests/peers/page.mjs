// The official MCP client, of both eras, is shown the page where a person decides; after its accept the person is waited for, and
// no answer of its own decides anything.
//
//   node page.mjs --bursar PATH
//
// Makes a sandbox, a seller on loopback and a console. Ends with the line `N passed, N failed`.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const PASSPHRASE = "correct horse battery staple\n";
const PAYEE = "0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";

const { values } = parseArgs({ options: { bursar: { type: "string" } } });
const bursar = resolve(values.bursar ?? "target/debug/bursar");
const folder = mkdtempSync(join(tmpdir(), "bursar-page-"));
const sandbox = ["--sandbox", join(folder, "box")];
let [passed, failed] = [0, 0];

function holds(what, is) {
  if (is) passed += 1;
  else failed += 1;
  console.log(`${is ? "✓" : "✗"} ${what}`);
}

function run(...words) {
  const ended = spawnSync(bursar, [...sandbox, ...words], { input: PASSPHRASE, encoding: "utf8" });
  if (ended.status !== 0) throw new Error(`bursar ${words.join(" ")}: ${ended.stderr}`);
  return ended.stdout;
}

function terms(url) {
  const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
  const offer = { scheme: "exact", network: "eip155:84532", amount: "50000", payTo: PAYEE, maxTimeoutSeconds: 60, asset };
  const accepts = [{ ...offer, extra: { name: "USDC", version: "2" } }];
  const resource = { url, description: "a page", mimeType: "text/plain" };
  return { x402Version: 2, error: "payment required", extensions: {}, resource, accepts };
}

const seller = createServer((request, response) => {
  const document = JSON.stringify(terms(`http://shop.test:${seller.address().port}${request.url}`));
  response.writeHead(402, { "payment-required": Buffer.from(document).toString("base64") }).end();
});
let terminal;
try {
  await new Promise((listening) => seller.listen(0, "127.0.0.1", listening));
  const { port } = seller.address();
  run("init", "--defaults", "--allow", `https://shop.test:${port}`, "--recipient", PAYEE);
  const rules = join(folder, "box", "bursar.toml");
  const text = readFileSync(rules, "utf8")
    .replace("[payment]\n", '[payment]\napprove_over = "0.02 USD"\n')
    .replace("# hosts = {", "hosts = {")
    .replaceAll("https://shop.test", "http://shop.test");
  writeFileSync(rules, text);
  run("unlock");
  run("session", "new", "--budget", "1.00 USD");
  terminal = spawn(bursar, [...sandbox, "console"], { stdio: ["pipe", "pipe", "ignore"] });
  const said = await new Promise((heard, ended) => terminal.stdout.once("data", heard).once("end", () => ended(new Error("no console"))));
  const address = /^Your console: (\S+)$/m.exec(said.toString())[1];
  terminal.stdout.resume();

  for (const [mode, era] of [["legacy", "legacy"], ["auto", "modern"]]) {
    for (const action of ["accept", "decline"]) {
      const asked = [];
      const capabilities = { elicitation: { url: {} } };
      const client = new Client({ name: "bursar-page", version: "0.0.0" }, { versionNegotiation: { mode }, capabilities });
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params);
        // The person says no, when the client has said what it says.
        if (action === "accept") setImmediate(() => run("deny", params.url.split("=")[1]));
        return { action };
      });
      await client.connect(new StdioClientTransport({ command: bursar, args: [...sandbox, "serve"], stderr: "ignore" }));
      const ask = { name: "x402_fetch", arguments: { url: `http://shop.test:${port}/page?private=${era}-${action}` } };
      const { structuredContent: answer } = await client.callTool(ask, { timeout: 30_000 });
      await client.close();
      const told = JSON.stringify(asked);
      const page = new RegExp(`^${address}#approval=a_[0-9a-f]{32}$`);
      holds(`${era}, ${action}: the page is shown once`, asked.length === 1 && page.test(asked[0].url));
      holds(`${era}, ${action}: nothing of the purchase is in it`, !told.includes("shop.test") && !told.includes("private"));
      const outcome = action === "accept" ? "refused" : "needs_approval";
      holds(`${era}, ${action}: the client's word is no yes, and the person's no is heard`, answer?.outcome === outcome);
    }
  }
} catch (fault) {
  holds(fault.message, false);
} finally {
  seller.close();
  terminal?.kill();
  spawnSync(bursar, [...sandbox, "vault", "--stop"]);
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
