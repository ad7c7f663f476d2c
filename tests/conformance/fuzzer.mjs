// A fuzzer for MCP servers (`mcp-fuzzer`, PyPI) against `bursar serve`: arguments by the tools' schemas, good and bad, and
// messages of every kind. Bounded and drawn from one seed. Nothing may crash, hang or be bought.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const RUNS_A_TOOL = 20;
const RUNS_A_MESSAGE = 4;
/** Takes no arguments: without any it is called as it should be. */
const WITHOUT_ARGUMENTS = "payment_session_status";
/** Answered, or no answer due, whatever is in them: known here, so that the list cannot grow unseen. */
const TAKEN = ["ListToolsRequest", "CallToolRequest", "PingRequest", "InitializedNotification", "ProgressNotification", "CancelledNotification"];

/** The words that start it; `command` is what it is to start. */
export function words(command, out) {
  return [
    "--mode", "all", "--phase", "both", "--protocol-phase", "aggressive", "--havoc", "--no-spec-guard", "--no-corpus", "--no-network",
    "--protocol", "stdio", "--endpoint", command.join(" "), "--timeout", "20", "--seed", "1",
    "--runs", String(RUNS_A_TOOL / 2), "--runs-per-type", String(RUNS_A_MESSAGE), "--log-level", "CRITICAL", "--output-dir", out,
  ];
}

/** What it found that must not be, in sentences. */
export function faults(out, tools) {
  const sessions = join(out, "sessions");
  const [session] = existsSync(sessions) ? readdirSync(sessions) : [];
  if (session === undefined) return ["the fuzzer wrote no report"];
  const [report] = readdirSync(join(sessions, session));
  const { tools_tested: tested, protocol_types_tested: kinds } = JSON.parse(readFileSync(join(sessions, session, report), "utf8")).data;
  const { findings } = JSON.parse(readFileSync(join(out, "findings.json"), "utf8"));
  const found = [];
  if (String(tested.map(({ name }) => name)) !== String(tools)) found.push(`not every tool was tried: ${tested.map(({ name }) => name)}`);
  if (kinds.length < 20) found.push(`only ${kinds.length} kinds of messages were tried`);
  for (const { name, runs, exceptions, exception_details: details } of tested) {
    if (runs !== RUNS_A_TOOL || exceptions > 0) found.push(`${name}: ${runs} runs, ${exceptions} broke: ${JSON.stringify(details).slice(0, 300)}`);
  }
  for (const { category, kind, target, evidence } of findings) {
    const input = JSON.stringify(evidence?.input ?? null);
    const meant = category === "accepted_malformed" &&
      (kind === "tool" ? target === WITHOUT_ARGUMENTS && input === "{}" : TAKEN.includes(target));
    if (!meant) found.push(`${category}, ${target}: ${input.slice(0, 200)}`);
  }
  return found;
}
