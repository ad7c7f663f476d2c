// What came out, as lines, as the page docs/dollars-lost.md, and as a verdict on bursar.

/** One line while it runs. */
export function told({ buyer, attack, lost, left, signatures, hangs, inside, broken, peak, ms }) {
  if (broken !== undefined) return `${buyer}: ${attack}: BROKEN: ${broken}`;
  const apart = inside ? "" : " (outside its promise)";
  return `${buyer}: ${attack}: lost ${dollars(lost)}${apart}, paid ${dollars(left)}, ${signatures} signatures, ${hangs} hangs, ${mib(peak)} MiB, ${ms} ms`;
}

/** What bursar did wrong, in sentences. */
export function verdict({ results, honest }) {
  const ours = ({ buyer }) => buyer.startsWith("bursar");
  return [
    ...results.filter(ours).flatMap(({ attack, buyer, lost, hangs, broken }) => [
      ...(broken ? [`${buyer}, ${attack}: ${broken}`] : []),
      ...(lost > 0n ? [`${buyer}, ${attack}: lost ${dollars(lost)}`] : []),
      ...(hangs ? [`${buyer}, ${attack}: hung`] : []),
    ]),
    ...honest.filter(ours).filter(({ sold, paid }) => !sold || !paid)
      .map(({ name, buyer, text, broken }) => `${buyer}, honest "${name}": ${broken ?? text}`),
  ];
}

/** What each buyer lost, inside and outside of its promise, in millionths. */
export function totals({ everyone, results, honest }) {
  return everyone.filter(({ missing }) => !missing).map(({ id, name, settings }) => {
    const own = results.filter(({ buyer, broken }) => buyer === id && broken === undefined);
    const sum = (part) => part.reduce((all, { lost }) => all + lost, 0n);
    const bought = honest.filter(({ buyer }) => buyer === id);
    return {
      id, name, settings,
      inside: sum(own.filter(({ inside }) => inside)),
      outside: sum(own.filter(({ inside }) => !inside)),
      hangs: own.reduce((all, { hangs }) => all + hangs, 0),
      wrong: bought.filter(({ sold, paid }) => !sold || !paid).length,
      honest: bought.length,
      peak: Math.max(0, ...own.map(({ peak }) => peak)),
      usualPeak: median(bought.map(({ peak }) => peak)),
    };
  });
}

export function dollars(units) {
  const sign = units < 0n ? "-" : "";
  const digits = String(units < 0n ? -units : units).padStart(7, "0");
  const [whole, part] = [digits.slice(0, -6), digits.slice(-6)];
  return `${sign}${whole}.${part.slice(0, 2)}${part.slice(2).replace(/0+$/, "")}`;
}

export function mib(bytes) {
  return Math.round(bytes / 1_048_576);
}

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export function page(outcome) {
  const all = totals(outcome);
  const { everyone, attacks, results, honest } = outcome;
  const cell = (buyer, attack) => {
    const result = results.find((one) => one.buyer === buyer && one.attack === attack);
    if (!result) return "–";
    if (result.broken !== undefined) return "not played";
    const text = result.hangs ? "hung" : result.lost === 0n ? "0" : dollars(result.lost);
    if (text === "0") return text;
    return result.inside ? `**${text}**` : `(${text})`;
  };
  const short = (id) => id.replace("-usual", "").replace("-strict", ", strict");
  const lines = [
    "# Dollars lost",
    "",
    `A hostile seller plays ${attacks.length} attacks against buyers of x402 and cashes every signature that it gets, on a local chain with the`,
    "real USDC contract, with gas of its own. What left a buyer's wallet beyond what its operator allowed is lost.",
    "",
    "![Dollars lost by each buyer](dollars-lost.svg)",
    "",
    "| buyer | lost inside its promise | lost outside | hung | honest purchases that failed | memory at the worst, MiB | usual |",
    "|---|---|---|---|---|---|---|",
    ...all.map(({ name, inside, outside, hangs, wrong, honest, peak, usualPeak }) =>
      `| ${name} | ${dollars(inside)} | ${dollars(outside)} | ${hangs} | ${wrong} of ${honest} | ${mib(peak)} | ${mib(usualPeak)} |`),
    "",
    `Dollars; each attack is played once against a wallet with ten dollars of each of two tokens. Written on ${new Date().toISOString().slice(0, 10)} by`,
    "`node benches/dollars/run.mjs --bursar target/debug/bursar --write`, or put together with `--from`.",
    "How much an attack takes is a choice of this bench: read the zeros, not the sums. The repository's `benches/dollars/README.md` says how it is played and how to add an attack or a buyer.",
    "",
    "## What counts as lost",
    "",
    "The operator of every buyer allows the same: the honest payee, in USDC, for each purchase that was asked for, once, at most the",
    "quoted price, at most five cents a payment and thirty cents in all, signed to be good for at most five minutes. Everything else",
    "that left the wallet is lost (`benches/dollars/stage/allowed.mjs`, one function). A payment for which nothing came is no loss if it",
    "was allowed: no buyer can take a signed payment back. A second payment for the same purchase is one. The agent behind every",
    "buyer is the same few lines: it asks, and where it did not get what it asked for it asks the same again, up to four times.",
    "",
    "## Fairness",
    "",
    "- Each library runs twice: as its README shows it, and with everything that its documents offer against spending too much",
    "  (\"strictest\"): ceilings, tokens, a policy or selector for payees, the cheapest offer, a hook for approvals. A caller that",
    "  knows the price sets the ceiling of that one call to it.",
    "- A loss counts **inside** a promise only where something that the buyer's own documents say, or a setting of them that was",
    "  made here, would have stopped it. Everything else is in brackets in the table below, and in a column of its own above: these",
    "  libraries sign and send, and never promised a memory, a budget or a lifetime. An application around them can add that.",
    "- The definition of loss is ours, and bursar was built for it; the libraries were not.",
    "- bursar is held to everything. It also needs a setup that they do not: a vault, rules, a budget that a person opened.",
    "- Every wallet has its money on one chain. A buyer that was not told which, and takes the first offer, may sign for another one.",
    "- Memory is the most that was ever resident, of `serve` and vault together for bursar, which is a debug build here.",
    "  The libraries' answers are read as text at once, as their READMEs do; an application that reads in pieces needs less.",
    "",
    "| buyer | settings |",
    "|---|---|",
    ...everyone.map(({ name, settings, missing }) => `| ${name} | ${settings}${missing ? `; **not run**: ${missing}` : ""} |`),
    "| agentcash 0.14.4 | **not run**: before each payment it asks a service of its maker's for the balance, and it pays on Base, Tempo and Solana alone |",
    "",
    "## Attack by attack",
    "",
    `| attack | ${all.map(({ id }) => short(id)).join(" | ")} |`,
    `|---|${all.map(() => "---").join("|")}|`,
    ...attacks.map(({ name }) => `| ${name} | ${all.map(({ id }) => cell(id, name)).join(" | ")} |`),
    "",
    "Bold: lost inside the promise. In brackets: outside of it. A dash: not played. *Hung*: no answer within three minutes; bursar gives",
    "up after two.",
    "",
    "| attack | what it tries | known from |",
    "|---|---|---|",
    ...attacks.map(({ name, tries, known }) => `| ${name} | ${tries} | ${known} |`),
    "",
    "## Honest purchases that failed",
    "",
    ...failures(honest, everyone),
    "",
  ];
  return lines.join("\n");
}

function failures(honest, everyone) {
  const names = new Map(everyone.map(({ id, name }) => [id, name]));
  const failed = honest.filter(({ sold, paid }) => !sold || !paid);
  if (failed.length === 0) return ["None."];
  return ["| buyer | purchase | what it said |", "|---|---|---|",
    ...failed.map(({ buyer, name, text, broken }) => `| ${names.get(buyer)} | ${name} | ${plain(broken ?? text) || "nothing"} |`)];
}

function plain(text) {
  const said = String(text);
  if (/[\x00-\x08\x0e-\x1f\ufffd]/.test(said)) return "the bytes as they came, unopened";
  if (said === "{}") return "402 again";
  return said.replace(/[^\x20-\x7e]|[|`<>]/g, " ").replace(/127\.0\.0\.1:\d+|:\d{4,5}\b/g, "").slice(0, 160);
}
