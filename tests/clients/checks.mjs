// What must be so of a conversation, whatever client held it: the tools, each answer, the progress, the wire and the chain.

import Ajv2020 from "ajv/dist/2020.js";

export const TOOLS = ["x402_fetch", "x402_quote", "prepare_browser_payment", "attach_browser_payment", "payment_session_status"];
const TOOL_OF = { status: "payment_session_status", quote: "x402_quote" };
const STAGES = 6;
/** Codes that are for the operator; a seller must not learn them through the model. */
const OPERATORS_CODES = ["over_payment_cap", "payee_not_allowed"];

/** Collects what was not so, in sentences. */
export class Check {
  faults = [];

  same(what, got, meant) {
    if (String(got) !== String(meant)) this.faults.push(`${what}: ${got}, not ${meant}`);
  }

  holds(what, fact) {
    if (!fact) this.faults.push(`not so: ${what}`);
  }
}

/** One conversation; `goods` is what each purchase brings, by step. */
export function conversation(check, said, { version, goods }) {
  const steps = Object.fromEntries(said.map(({ step, ...what }) => [step, what]));
  check.same("steps", said.map(({ step }) => step),
    ["tools", "status", "quote", "buy", "again", "refused", "nonsense", "cancel", "collected"]);
  if (check.faults.length > 0) return;

  check.same("revision", steps.tools.version, version);
  const validate = tools(check, steps.tools.tools);
  for (const step of ["status", "quote", "buy", "again", "refused", "nonsense", "collected"]) {
    answer(check, step, steps[step], validate[TOOL_OF[step] ?? "x402_fetch"]);
  }
  const told = (step) => steps[step].structuredContent ?? {};
  check.same("status, ready", told("status").ready, true);
  check.same("quote, outcome", told("quote").outcome, "pay");
  bought(check, "buy", told("buy"), goods.buy);
  const { heard } = steps.buy;
  check.holds(`progress comes in order (${heard})`, heard.every((stage, at) => at === 0 || heard[at - 1] < stage));
  check.holds(`progress was told while it was bought (${heard})`, heard.length >= 3 && heard.every((stage) => stage <= STAGES));
  bought(check, "again", told("again"), goods.buy);
  check.same("again, payment", told("again").receipt?.payment_id, told("buy").receipt?.payment_id);
  check.same("refused, outcome", told("refused").outcome, "refused");
  check.same("refused is an answer and no error", steps.refused.isError ?? false, false);
  check.holds("the refusal does not say which rule refused", !OPERATORS_CODES.some((code) => JSON.stringify(steps.refused).includes(code)));
  check.same("an argument that chooses the payee is an error", steps.nonsense.isError, true);
  check.holds("the error names the argument", JSON.stringify(steps.nonsense).includes("pay_to"));
  check.same("the client cancelled in the middle of paying", steps.cancel.cut, "cancelled");
  bought(check, "collected", told("collected"), goods.collected);
  check.holds("what was cancelled is a purchase of its own", told("collected").receipt?.payment_id !== told("buy").receipt?.payment_id);
}

/** What an agent's framework brought to its model: a purchase, the same again, and one attempt at too much. */
export function agent(check, said, { goods }) {
  const [only, ...more] = said;
  check.same("lines", more.length, 0);
  if (only === undefined) return check.holds("the agent came to its end", false);
  check.same("tools that the model has", only.names, TOOLS);
  check.same("calls that were answered", only.heard.length, 4);
  const [status, first, again, refused] = only.heard;
  check.same("status, ready", status?.ready, true);
  bought(check, "first", first ?? {}, goods);
  bought(check, "again", again ?? {}, goods);
  check.same("again, payment", again?.receipt?.payment_id, first?.receipt?.payment_id);
  check.same("too much", refused?.outcome, "refused");
  check.same("last word", only.final, "done");
}

/** The definitions suit a strict validator; one function a tool that judges its answers. */
function tools(check, listed) {
  check.same("tools", listed.map(({ name }) => name), TOOLS);
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  return Object.fromEntries(listed.map(({ name, description, inputSchema, outputSchema, annotations }) => {
    check.holds(`${name} has a description, hints and both schemas`, description && annotations && inputSchema && outputSchema);
    check.same(`${name}, root of its schemas`, [inputSchema?.type, outputSchema?.type], ["object", "object"]);
    ajv.compile(inputSchema);
    return [name, ajv.compile(outputSchema)];
  }));
}

/** Structured content that fits the schema, and the same as text for clients that know no other. */
function answer(check, step, { structuredContent, content }, validate) {
  check.holds(`${step} fits its schema: ${validate(structuredContent) || JSON.stringify(validate.errors)}`, validate(structuredContent));
  const texts = (content ?? []).map(({ type, text }) => type === "text" && JSON.stringify(JSON.parse(text)));
  check.same(`${step} as text`, texts.join(), JSON.stringify(sorted(structuredContent)));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

function bought(check, step, { outcome, content, receipt }, goods) {
  check.same(`${step}, outcome`, outcome, "paid");
  check.holds(`${step} brings what was sold`, content?.text?.includes(goods));
  check.holds(`${step} names its payment`, typeof receipt?.payment_id === "string");
}
