// Pages that a browser pays for, at the real seller: an agent prepares and attaches over MCP, a glue puts the payment onto
// the browser's request. Once with the shipped glue beside Playwright's MCP server, once with each recipe.

import { mkdirSync } from "node:fs";
import dns from "node:dns";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { chromium as playwright } from "playwright-core";
import puppeteer from "puppeteer-core";
import { Glue } from "../../../recipes/glue.mjs";
import { pay as payWithPlaywright } from "../../../recipes/playwright.mjs";
import { pay as payWithPuppeteer } from "../../../recipes/puppeteer.mjs";
import { goodsOf } from "../lab/constants.mjs";
import { Chromium, chromiumProgram, labArguments } from "./chromium.mjs";
import { authorizationOf } from "./payment.mjs";
import { Check, balances, difference, payeesOf } from "./trial.mjs";

const WITHIN_MS = 60_000;
const SELLER = "v2";
const ARTICLE = goodsOf(SELLER, "/article").goods;
const MORE = goodsOf(SELLER, "/normal").goods;
const PLAYWRIGHT_MCP = fileURLToPath(new URL("../node_modules/@playwright/mcp/cli.js", import.meta.url));

/** Where pictures of what was paid for go. */
const PICTURES = fileURLToPath(new URL("../../../target/tests/", import.meta.url));

/**
 * Tries every way to pay in a browser; resolves to results as `tryCell` gives them.
 * `ask(tool, arguments)` asks bursar as the agent.
 */
export async function tryBrowsers({ bursar, buyer, front, token, lab }) {
  const world = { bursar, buyer, front, token, lab };
  mkdirSync(PICTURES, { recursive: true });
  const results = [];
  for (const [name, units, act] of [
    ["page, Playwright MCP and bursar browser", 1_000n, agentMovesTheBrowser],
    ["page and its API, bursar browser waits", 11_000n, somebodyClicks],
    ["page, Playwright recipe", 1_000n, withPlaywright],
    ["page, Puppeteer recipe", 1_000n, withPuppeteer],
  ]) {
    results.push(await tryOne({ ...world, name, units, act }));
  }
  return results;
}

async function tryOne({ name, units, act, ...world }) {
  const { buyer, front, token, lab } = world;
  const cell = { name, seller: SELLER, want: "paid" };
  const holders = { buyer: buyer.payer, ...payeesOf(lab.endpoints.sellers) };
  const check = new Check();
  const seen = []; // everything that a model could have seen
  const ends = []; // what must be ended, newest last
  const started = performance.now();
  front.takeExchanges();
  const before = await balances(token, holders);
  let got = "–";
  try {
    got = await act({ ...world, check, seen, later: (end) => ends.push(end), slug: name.toLowerCase().replace(/[^a-z]+/g, "-") });
  } catch (fault) {
    check.faults.push(fault.message);
  }
  while (ends.length > 0) await ends.pop()();
  const moved = difference(before, await balances(token, holders));
  const exchanges = front.takeExchanges();
  const authorizations = exchanges.map(({ request }) => authorizationOf(request)).filter(Boolean);
  check.same("outcome", got, cell.want);
  check.same("balance of buyer", moved.buyer, -units);
  check.same(`balance of ${SELLER}`, moved[SELLER], units);
  check.same("payments sent", authorizations.length, units > 1_000n ? 2 : 1);
  for (const { nonce, from } of authorizations) {
    check.same("nonce used on the chain", await token.nonceUsed(from, nonce), true);
  }
  const secrets = exchanges.flatMap(({ request }) => request.headers.get("payment-signature") ?? []);
  for (const secret of secrets) {
    const { payload } = JSON.parse(Buffer.from(secret, "base64").toString("utf8"));
    const told = JSON.stringify(seen);
    check.holds("no answer to the model holds the header", !told.includes(secret) && !told.includes(secret.slice(0, 64)));
    check.holds("no answer to the model holds the signature", !told.includes(payload.signature.slice(2, 40)));
  }
  return { cell, era: "browser", got, moved, faults: check.faults, exchanges, authorizations, ms: Math.round(performance.now() - started) };
}

/** Playwright's MCP server and bursar's side by side in one client, each with its own tools. */
async function agentMovesTheBrowser(world) {
  const { front, check, slug } = world;
  const { browser, agent } = await aBrowser(world);
  const url = `${front.origin}/article?for=${slug}`;
  const first = await agent.browse("browser_navigate", { url });
  check.holds("the page asks for money first", !first.includes(ARTICLE));
  const { handle } = await agent.prepare(url);
  const receipt = await agent.attach(handle, "navigate");
  const shown = await agent.browse("browser_snapshot", {});
  check.holds("the agent sees the page that was paid for", shown.includes(ARTICLE));
  // What its tools tell of the paid request, headers included, is part of what the model saw.
  const requests = await agent.browse("browser_network_requests", { static: true });
  for (const [, index] of requests.matchAll(/^(\d+)\. /gm)) await agent.browse("browser_network_request", { index: Number(index) });
  await picture(browser, url, slug);
  return receipt.outcome;
}

/** The agent makes the browser ask: it goes to the page, then presses a button whose script fetches from the API. */
async function somebodyClicks(world) {
  const { front, check, slug } = world;
  const { browser, agent } = await aBrowser(world);
  const url = `${front.origin}/article?for=${slug}`;
  const page = await agent.prepare(url);
  check.same("armed", (await agent.attach(page.handle, "wait")).outcome, "armed");
  await agent.browse("browser_navigate", { url });
  check.same("the page", (await agent.attach(page.handle, "wait")).outcome, "paid");
  const api = await agent.prepare(`${front.origin}/normal?for=${slug}`);
  check.same("armed", (await agent.attach(api.handle, "wait")).outcome, "armed");
  const snapshot = await agent.browse("browser_snapshot", {});
  const [, button] = snapshot.match(/button "More" \[ref=(\w+)\]/) ?? [];
  await agent.browse("browser_click", { element: "More", ref: button, target: button });
  const receipt = await agent.attach(api.handle, "wait");
  await agent.browse("browser_wait_for", { text: MORE });
  const shown = await agent.browse("browser_snapshot", {});
  check.holds("the page shows what its script paid for", shown.includes(MORE));
  await picture(browser, url, slug);
  return receipt.outcome;
}

async function withPlaywright({ front, lab, bursar, check, slug, later, ...world }) {
  const browser = await playwright.launch({
    executablePath: chromiumProgram(),
    args: labArguments({ ...lab.endpoints, certificate: lab.tls.certificate }),
  });
  later(() => browser.close());
  // The recipe asks from this process, which finds and trusts the shop no more than the browser would by itself.
  const lookup = dns.promises.lookup;
  later(async () => (dns.promises.lookup = lookup));
  dns.promises.lookup = async (host, options) =>
    host === lab.endpoints.host ? [{ address: lab.endpoints.address, family: 4 }] : lookup(host, options);
  const glue = await Glue.open(bursar.glueSocket);
  later(async () => glue.close());

  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const url = `${front.origin}/article?for=${slug}`;
  const agent = new Agent(world);
  const { handle } = await agent.prepare(url);
  const paying = glue.next().then((payment) => payWithPlaywright(context, glue, payment));
  const receipt = await agent.attach(handle, "navigate");
  await paying;
  const [page] = context.pages();
  await page.getByText("This page was paid for.").waitFor();
  check.same("title", await page.title(), ARTICLE);
  await page.screenshot({ path: join(PICTURES, `${slug}.png`) });
  return receipt.outcome;
}

async function withPuppeteer({ front, lab, bursar, check, slug, later, ...world }) {
  const chromium = await Chromium.start({ ...lab.endpoints, certificate: lab.tls.certificate });
  later(() => chromium.stop());
  const browser = await puppeteer.connect({ browserWSEndpoint: chromium.endpoint });
  later(() => browser.disconnect());
  const glue = await Glue.open(bursar.glueSocket);
  later(async () => glue.close());

  const page = await browser.newPage();
  const url = `${front.origin}/article?for=${slug}`;
  const agent = new Agent(world);
  const { handle } = await agent.prepare(url);
  const paying = glue.next().then((payment) => payWithPuppeteer(page, glue, payment));
  const receipt = await agent.attach(handle, "navigate");
  await paying;
  check.same("title", await page.title(), ARTICLE);
  await page.screenshot({ path: join(PICTURES, `${slug}.png`) });
  return receipt.outcome;
}

/** A browser, the shipped glue beside it, and an agent that holds both servers' tools. */
async function aBrowser({ bursar, buyer, lab, seen, later }) {
  const chromium = await Chromium.start({ ...lab.endpoints, certificate: lab.tls.certificate });
  later(() => chromium.stop());
  const glue = await bursar.joinBrowser(chromium.endpoint);
  later(() => glue.stop());
  const client = new Client({ name: "bursar-peers", version: "0.0.0" });
  const args = [PLAYWRIGHT_MCP, "--cdp-endpoint", chromium.endpoint, "--output-dir", chromium.folder];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  later(() => client.close());
  return { browser: chromium, agent: new Agent({ buyer, seen, browser: client }) };
}

/** What a model does: tool calls, whose every answer is kept as seen. */
class Agent {
  #bursar;
  #browser;
  #seen;

  constructor({ buyer, seen, browser }) {
    this.#bursar = buyer.clients[0].client;
    this.#browser = browser;
    this.#seen = seen;
  }

  prepare = (url) => this.#pay("prepare_browser_payment", { url });

  attach = (handle, open) => this.#pay("attach_browser_payment", { handle, open });

  /** A tool of Playwright's server; resolves to the text of its answer. */
  async browse(name, args) {
    const answer = await this.#browser.callTool({ name, arguments: args }, { timeout: WITHIN_MS });
    this.#seen.push(answer);
    const text = answer.content.map((part) => part.text ?? "").join("\n");
    if (answer.isError) throw new Error(`${name}: ${text.slice(0, 300)}`);
    return text;
  }

  async #pay(name, args) {
    const answer = await this.#bursar.callTool({ name, arguments: args }, { timeout: WITHIN_MS + 30_000 });
    this.#seen.push(answer);
    const told = answer.structuredContent;
    if (!told) throw new Error(`${name}: ${JSON.stringify(answer).slice(0, 300)}`);
    return told;
  }
}

async function picture(chromium, url, slug) {
  const browser = await puppeteer.connect({ browserWSEndpoint: chromium.endpoint, defaultViewport: null });
  const page = (await browser.pages()).find((page) => page.url() === url);
  await page?.screenshot({ path: join(PICTURES, `${slug}.png`) });
  await browser.disconnect();
}
