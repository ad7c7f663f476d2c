// What was measured as one table, and what the goals say of it. Decides nothing else.

const sorted = (numbers) => numbers.toSorted((a, b) => a - b);
const at = (numbers, part) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))];
const median = (numbers) => at(numbers, 0.5);
const ms = (number) => `${number.toFixed(2)} ms`;

function row(name, ...cells) {
  console.log([name.padEnd(30), ...cells.map((cell) => String(cell).padStart(14))].join(" "));
}

/** A second's purchases in the median crowd. */
const crowded = ({ crowd }, size) => (size.crowd * 1000) / median(crowd.map(({ total }) => total));
/** What each of the crowds' purchases took. */
const under = ({ crowd }) => crowd.flatMap((one) => one.ms);
const cpu = ({ cpu: spent, count }) => spent / count;

/** The buyers side by side. */
export function show(found, size) {
  const all = [...found.values()];
  console.log(`\n${size.rounds} rounds of ${size.alone} purchases one after another, then ${all[0].crowd.length} of ${size.crowd} at ${size.flight} in flight`);
  row("", ...found.keys());
  row("a purchase, median", ...all.map((of) => ms(median(of.ms))));
  row("a purchase, 95th of 100", ...all.map((of) => ms(at(of.ms, 0.95))));
  row("processor time a purchase", ...all.map((of) => ms(cpu(of))));
  row("the same, many in flight", ...all.map((of) => ms(median(of.crowd.map((crowd) => crowd.cpu)) / size.crowd)));
  row("a purchase, many in flight", ...all.map((of) => ms(median(under(of)))));
  row("the same, 95th of 100", ...all.map((of) => ms(at(under(of), 0.95))));
  row("purchases a second, one", ...all.map((of) => ((of.count * 1000) / of.total).toFixed(0)));
  row(`purchases a second, ${size.flight}`, ...all.map((of) => crowded(of, size).toFixed(0)));
}

/** What no guarded purchase can go below. */
export function floors({ legs, commit, sign, legsCpu }) {
  console.log("\nfloors, medians");
  row("2 handshakes, 2 bare requests", ms(median(legs)), `${ms(legsCpu / legs.length)} of processor time`);
  row("a durable commit of one row", ms(median(commit)), `95th of 100: ${ms(at(commit, 0.95))}`);
  row("a signature", ms(median(sign)));
}

/**
 * Each goal with what it was held against, as figures too. A miss is told and fails nothing: the machine may be busy. In a smoke
 * run there are no floors and no third buyer.
 */
export function compare(found, floors, big, size, sheet) {
  const [ours, theirs, bare] = ["bursar", "@x402/fetch", "x402-reqwest"].map((name) => found.get(name));
  const rate = (times) => (size.big * 1000) / median(times);
  const floor = {
    legs: { what: "floor: 2 handshakes, 2 bare requests", measured: floors && median(floors.legs), unit: "ms" },
    commit: { what: "floor: a durable commit of one row", measured: floors && median(floors.commit), unit: "ms" },
    sign: { what: "floor: a signature", measured: floors && median(floors.sign), unit: "ms" },
    cpu: { what: "floor: 2 handshakes, 2 bare requests", measured: floors && floors.legsCpu / floors.legs.length, unit: "ms" },
  };
  const least = (...names) => (floors ? names.map((name) => floor[name]) : []);
  if (floors) console.log("\ngoals");

  const own = median(ours.ms);
  const other = { what: "@x402/fetch", measured: median(theirs.ms), unit: "ms" };
  tell("no slower than @x402/fetch", `${ms(own)} against ${ms(other.measured)}`, {
    id: "wire-alone", figure: "a purchase, median", measured: own, unit: "ms",
    beside: [other, ...least("legs", "commit", "sign")], ratio: own / other.measured,
    goal: { words: "no slower than `@x402/fetch`", most_times: 1 },
  });
  if (bare) {
    const unguarded = median(bare.ms);
    const allowed = unguarded + floor.commit.measured + 1;
    tell("x402-reqwest + commit + 1 ms", `${ms(own)} against ${ms(allowed)}`, {
      id: "wire-allowed", figure: "the same", measured: own, unit: "ms",
      beside: [{ what: "x402-reqwest", measured: unguarded, unit: "ms" }, floor.commit], ratio: own / unguarded,
      goal: { words: "at most `x402-reqwest`, a durable commit and 1 ms", most: allowed },
    });
  }
  tell("", "", {
    id: "wire-slow", figure: "a purchase, 95th of 100", measured: at(ours.ms, 0.95), unit: "ms",
    beside: [theirs, bare].filter(Boolean).map((of, nth) => ({ what: ["@x402/fetch", "x402-reqwest"][nth], measured: at(of.ms, 0.95), unit: "ms" })),
    ratio: at(ours.ms, 0.95) / at(theirs.ms, 0.95),
  });
  const share = cpu(ours) / cpu(theirs);
  tell("a fifth of its processor time", `${share.toFixed(2)} of it (the aim is a tenth)`, {
    id: "wire-cpu", figure: "processor time of a purchase, `serve` and vault", measured: cpu(ours), unit: "ms",
    beside: [{ what: "@x402/fetch", measured: cpu(theirs), unit: "ms" }, ...least("cpu", "sign")], ratio: share,
    goal: { words: "at most a fifth of `@x402/fetch`", most_times: 1 / 5 },
  });
  const busy = (of) => median(of.crowd.map((crowd) => crowd.cpu)) / size.crowd;
  tell("", "", {
    id: "wire-crowd-cpu", figure: `the same, ${size.flight} in flight`, measured: busy(ours), unit: "ms",
    beside: [{ what: "@x402/fetch", measured: busy(theirs), unit: "ms" }], ratio: busy(ours) / busy(theirs),
  });
  const times = crowded(ours, size) / crowded(theirs, size);
  tell("3 times its throughput", `${times.toFixed(1)} times`, {
    id: "wire-crowd", figure: `${size.crowd.toLocaleString("en")} purchases, ${size.flight} in flight`, measured: crowded(ours, size), unit: "/s",
    beside: [{ what: "@x402/fetch", measured: crowded(theirs, size), unit: "/s" }], ratio: times,
    goal: { words: "at least 3 times `@x402/fetch`", least_times: 3 },
  });
  for (const [id, figure, part] of [["wire-crowd-alone", "each of these, median", 0.5], ["wire-crowd-slow", "each of these, 95th of 100", 0.95]]) {
    const [mine, other] = [at(under(ours), part), at(under(theirs), part)];
    tell("", "", {
      id, figure, measured: mine, unit: "ms", beside: [{ what: "@x402/fetch", measured: other, unit: "ms" }], ratio: mine / other,
    });
  }
  const [kept, bytes] = [rate(big.bursar), rate(big.curl)];
  tell(`${size.big} MiB: 80% of curl`, `${((kept / bytes) * 100).toFixed(1)}%: ${kept.toFixed(0)} against ${bytes.toFixed(0)} MiB a second`, {
    id: "wire-body", figure: `a body of ${size.big} MiB`, measured: kept, unit: "MiB/s",
    beside: [{ what: "curl", measured: bytes, unit: "MiB/s" }], ratio: kept / bytes,
    goal: { words: "at least 80% of curl's speed", least_times: 0.8 },
  });

  function tell(name, what, figure) {
    const held = sheet.add(figure);
    if (held) row(name, held, what);
  }
}
