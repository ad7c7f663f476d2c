// Writes what went over the wire as files: one folder a cell, the bytes exactly as they were.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slugOf } from "./cells.mjs";
import { settlementOf, termsOf } from "./payment.mjs";

/**
 * In `dir/SLUG/`: `1-request.http`, `1-reply.http`, … (raw bytes of both directions), `ask.json` and
 * `answer.json` (the buyer's side), `facts.json` (who, how much, what the chain says; amounts as strings).
 */
export function record(dir, { cell, era, got, exchanges, authorizations, moved, url, asks, answers, faults }, about) {
  const folder = join(dir, slugOf(cell, era));
  mkdirSync(folder, { recursive: true });
  const put = (name, content) => writeFileSync(join(folder, name), content);
  exchanges.forEach(({ request, reply }, index) => {
    put(`${index + 1}-request.http`, request.bytes);
    if (reply) put(`${index + 1}-reply.http`, reply.bytes);
  });
  put("ask.json", json(single(asks)));
  put("answer.json", json(single(answers)));
  const replies = exchanges.map(({ reply }) => reply).filter(Boolean);
  const bare = replies.find(({ start }) => start.includes(" 402 "));
  put("facts.json", json({
    ...about,
    cell: cell.name,
    url,
    outcome: got,
    terms: bare && termsOf(bare),
    authorizations,
    settlement: replies.map(settlementOf).find(Boolean),
    moved,
    faults,
  }));
}

function single(items) {
  return items.length === 1 ? items[0] : items;
}

function json(value) {
  const plain = (_key, held) => (typeof held === "bigint" ? String(held) : held);
  return `${JSON.stringify(value ?? null, plain, 2)}\n`;
}
