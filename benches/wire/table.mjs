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

/** Each goal with what it was held against. A miss is told and fails nothing: the machine may be busy. */
export function compare(found, under, big, size) {
  const [ours, theirs, bare] = ["bursar", "@x402/fetch", "x402-reqwest"].map((name) => found.get(name));
  const own = median(ours.ms);
  const allowed = median(bare.ms) + median(under.commit) + 1;
  const rate = (times) => (size.big * 1000) / median(times);
  const goal = (held, name, what) => row(name, held ? "held" : "MISSED", what);
  console.log("\ngoals");
  goal(own <= median(theirs.ms), "no slower than @x402/fetch", `${ms(own)} against ${ms(median(theirs.ms))}`);
  goal(own <= allowed, "x402-reqwest + commit + 1 ms", `${ms(own)} against ${ms(allowed)}`);
  const share = cpu(ours) / cpu(theirs);
  goal(share <= 1 / 5, "a fifth of its processor time", `${share.toFixed(2)} of it (the aim is a tenth)`);
  const times = crowded(ours, size) / crowded(theirs, size);
  goal(3 <= times, "3 times its throughput", `${times.toFixed(1)} times`);
  const speed = rate(big.bursar) / rate(big.curl);
  goal(0.8 <= speed, `${size.big} MiB: 80% of curl`,
    `${(speed * 100).toFixed(1)}%: ${rate(big.bursar).toFixed(0)} against ${rate(big.curl).toFixed(0)} MiB a second`);
}
