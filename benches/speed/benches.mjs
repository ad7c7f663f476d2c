// Which benches there are, in the order of the page: how each is built, what else it needs, and the command that measures it. A new
// bench is a new entry here, and a heading in page.mjs.

import { divan } from "./divan.mjs";

const PEERS = "benches/wire/peers";

/** All benches, in the release build of `bursar` or of the program that is named; `quick` for a handful of each. */
export function benches({ bursar, quick, rows }) {
  const profile = quick ? [] : ["--release"];
  const folder = quick ? "target/debug" : "target/release";
  const program = bursar ?? `${folder}/bursar`;
  const smoke = quick ? ["--smoke"] : [];
  const own = bursar ? [] : [["cargo", "build", ...profile, "--locked"]];

  /** A bench of cargo's that writes its figures itself. */
  const cargo = (name, ...more) => {
    const begins = ["cargo", quick ? "test" : "bench"];
    return {
      build: [[...begins, "--no-run", "--locked", "--bench", name]],
      command: [...begins, "--locked", "--bench", name, "--", ...more, ...smoke],
    };
  };
  /** One that divan runs; its figures are read out of what it prints. */
  const printed = (name) => {
    const command = ["cargo", "bench", "--locked", "--bench", name];
    return { build: [[...command, "--no-run"]], command, printed: divan };
  };
  /** A bench in node that is given the program. */
  const node = (file, ...more) => ({ build: own, command: ["node", file, "--bursar", program, ...more, ...smoke] });

  const seller = `${folder}/examples/canned_seller`;
  const wire = node("benches/wire/run.mjs", ...(quick ? ["--seller", seller] : []));
  wire.build = [
    ["cargo", "build", ...profile, "--locked", "--example", "canned_seller"],
    ...(quick ? [] : [["cargo", "build", "--release", "--locked", "--manifest-path", `${PEERS}/Cargo.toml`]]),
    ...own,
  ];
  return [
    { name: "judge", ...printed("judge") },
    { name: "refuse", ...printed("refuse") },
    { name: "ledger", quick: true, ...cargo("ledger", ...(rows ? ["--rows", rows] : [])) },
    { name: "wire", quick: true, ...wire, packages: [["tests/peers", "@x402/fetch"]] },
    { name: "startup", ...node("benches/startup/run.mjs"), packages: [["benches/startup", "@modelcontextprotocol/sdk"]] },
    { name: "large", ...cargo("large") },
    { name: "shares", quick: true, ...cargo("shares") },
    { name: "size", ...node("benches/speed/builds.mjs") },
    { name: "builds", asked: true, build: [], command: ["node", "benches/speed/builds.mjs", "--cold"] },
  ];
}
