// Purchases over loopback TLS, bursar and two buyers without a guard in turn, from one seller and on one disk. Prints one
// table with the floors beside it and holds the goals against it.
//
//   node run.mjs --bursar PATH               all of it; needs the seller, the peers and curl (see `need` for the commands)
//   node run.mjs --bursar PATH --json FILE   the figures in a file too
//   node run.mjs --bursar PATH --smoke       a handful of purchases without x402-reqwest and the floors, every check, and no
//                                            figure that means anything: the bench still runs

import { accessSync, constants, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BursarBuyer, LineBuyer, Seller, curl } from "./sides.mjs";
import { Sheet } from "../figures/sheet.mjs";
import { compare, floors, show } from "./table.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values } = parseArgs({
  options: {
    bursar: { type: "string" },
    seller: { type: "string", default: here("../../target/release/examples/canned_seller") },
    peers: { type: "string", default: here("peers/target/release/bursar-wire-peers") },
    rounds: { type: "string", default: "10" },
    smoke: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
if (!values.bursar) {
  console.error("usage: node run.mjs --bursar PATH [--seller PATH] [--peers PATH] [--rounds N] [--smoke] [--json FILE]");
  process.exit(2);
}
need(values.bursar, "cargo build --release --locked");
need(values.seller, "cargo build --release --locked --example canned_seller");
if (!values.smoke) need(values.peers, "cargo build --release --locked --manifest-path benches/wire/peers/Cargo.toml");

/** How many purchases make a round one after another, how many at once, and how large the large body is (MiB). */
const SIZE = values.smoke ? { rounds: 1, alone: 4, crowd: 8, flight: 4, big: 1 } :
  { rounds: Number(values.rounds), alone: 100, crowd: 1000, flight: 32, big: 256 };
const CROWDS = values.smoke ? 1 : 3;

const folder = mkdtempSync(join(tmpdir(), "bursar-wire-"));
const ends = [() => rmSync(folder, { recursive: true, force: true })];
let prefix = 0;
let sold = 0;
try {
  const seller = await Seller.open(values.seller);
  ends.push(() => seller.stop());
  const authority = join(folder, "ca.pem");
  writeFileSync(authority, seller.authority);

  const bursar = await started(new BursarBuyer(values.bursar, seller));
  const fetch = await started(new LineBuyer("@x402/fetch", process.execPath, [here("fetch-buyer.mjs"), seller.origin],
    { NODE_EXTRA_CA_CERTS: authority }));
  const buyers = [bursar, fetch];
  let floor;
  if (!values.smoke) {
    floor = await started(new LineBuyer("x402-reqwest", values.peers,
      [seller.origin, String(seller.port), authority, folder]));
    buyers.push(floor);
  }

  const found = new Map(buyers.map(({ name }) => [name, { ms: [], total: 0, cpu: 0, count: 0, crowd: [] }]));
  const under = { legs: [], commit: [], sign: [], legsCpu: 0 };
  for (let round = 0; round <= SIZE.rounds; round += 1) {
    const warm = round > 0 || values.smoke; // the first one is not counted
    for (const buyer of buyers) {
      const { ms, total, cpu } = await bought(buyer, SIZE.alone, 1);
      if (!warm) continue;
      const of = found.get(buyer.name);
      of.ms.push(...ms);
      of.total += total;
      of.cpu += cpu;
      of.count += ms.length;
    }
    if (!floor || !warm) continue;
    const before = floor.cpu();
    under.legs.push(...(await floor.ask(`legs ${SIZE.alone}`)).ms);
    under.legsCpu += floor.cpu() - before;
    under.commit.push(...(await floor.ask(`commit ${SIZE.alone}`)).ms);
    under.sign.push(...(await floor.ask(`sign ${SIZE.alone}`)).ms);
  }
  for (let round = 0; round < CROWDS; round += 1) {
    for (const buyer of buyers) {
      const { ms, total, cpu } = await bought(buyer, SIZE.crowd, SIZE.flight);
      found.get(buyer.name).crowd.push({ ms, total, cpu });
    }
  }

  if (!values.smoke) {
    show(found, SIZE);
    floors(under);
  }

  const carrier = await started(new BursarBuyer(values.bursar, seller, "max_body = \"256 MiB\"\ncontent = \"file\""));
  const big = { bursar: [], curl: [] };
  for (let round = 0; round < (values.smoke ? 1 : 5); round += 1) {
    const copy = join(folder, "copy");
    big.curl.push(await curl(seller, authority, `/free/${SIZE.big}`, copy));
    if (statSync(copy).size !== SIZE.big * 1024 * 1024) throw new Error("curl did not get the whole body");
    const { ms, bytes } = await carrier.one(`/big/${SIZE.big}?${round}`);
    if (bytes !== SIZE.big * 1024 * 1024) throw new Error(`bursar kept ${bytes} bytes of the large body`);
    big.bursar.push(ms);
    sold += 1;
  }

  const books = await seller.books();
  if (books.payments !== sold || books.different !== sold) {
    throw new Error(`${sold} purchases were made, and the seller has ${JSON.stringify(books)}`);
  }
  console.log(`${sold} purchases, each paid once`);
  const sheet = new Sheet(values);
  compare(found, values.smoke ? undefined : under, big, SIZE, sheet);
  sheet.write(values.json);
} finally {
  while (ends.length > 0) await ends.pop()();
}

async function started(side) {
  ends.push(() => side.stop());
  await side.start();
  return side;
}

/** One round of one buyer, below a path of its own. */
async function bought(buyer, count, flight) {
  const before = buyer.cpu();
  prefix += 1;
  const { ms, total } = await buyer.buy(`/item/${prefix}/`, count, flight);
  if (ms.length !== count) throw new Error(`${buyer.name} bought ${ms.length} of ${count}`);
  sold += count;
  return { ms, total, cpu: buyer.cpu() - before };
}

function need(program, command) {
  try {
    accessSync(program, constants.X_OK);
  } catch {
    console.error(`\`${program}\` is not a program that can be run; build it with \`${command}\``);
    process.exit(2);
  }
}
