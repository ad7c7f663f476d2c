// What the conformance suite is expected to find, scenario by scenario. Whatever differs from this table fails the run:
// a scenario that is missing here, one that holds and is listed as not offered, a check that fails and is not listed.

/** Why a check cannot hold, and what the suite then says of it: one word for another reason is a failure. */
export const REASONS = {
  tool: {
    why: "calls a tool that only the suite's own server has; bursar's five tools are called by tests/clients",
    says: /there is no tool `|does not implement test_reconnection tool|Tool 'json_schema_2020_12_tool' not found|Not testable: server does not list the diagnostic tool/,
  },
  asks: {
    why: "wants a tool that asks its client for input; bursar asks a person at a terminal and never the client",
    says: /there is no tool `test_input_required_result_|Expected InputRequiredResult|could not get initial InputRequiredResult|re-requesting via InputRequiredResult|^JSON-RPC error: there is no method `prompts\/get`/,
  },
  resources: { why: "bursar offers no resources", says: /there is no method `resources\/|Expected error code -32602 \(Invalid Params\), got -32601|Error data\.uri is undefined/ },
  prompts: { why: "bursar offers no prompts", says: /there is no method `prompts\// },
  completion: { why: "bursar completes no arguments", says: /there is no method `completion\// },
  logging: { why: "bursar logs to standard error and never to the client", says: /there is no method `logging\// },
  tasks: {
    why: "bursar offers no tasks (an extension); an outcome is collected by the same call again",
    says: /there is no tool `|there is no method `tasks\/|-32601|-32602|no task was created|capabilities\.extensions MUST be advertised|unavailable/,
  },
  http: {
    why: "speaks of HTTP headers and hosts, which only the bridge of this test has; bursar is spoken to over standard input",
    says: /Expected HTTP (4xx|400)|HeaderMismatch|x-mcp-header/,
  },
};

const held = (...names) => names.map((name) => [name, {}]);
/** Scenarios that fail for one reason, in one check that has the scenario's name unless another is said. */
const failing = (reason, ...names) =>
  names.map((name) => (typeof name === "string" ? [name, { [name]: reason }] : [name[0], { [name[1]]: reason }]));

const CONTENT = ["simple-text", "image", "audio", "embedded-resource", "mixed-content", "error", "with-progress"]
  .map((name) => `tools-call-${name}`);
const RESOURCES = ["list", "read-text", "read-binary", "templates-read"].map((name) => `resources-${name}`);
const PROMPTS = ["list", "get-simple", "get-with-args", "get-embedded-resource", "get-with-image"].map((name) => `prompts-${name}`);
const BOTH = [
  ...held("tools-list", "server-sse-multiple-streams"),
  ...failing("completion", "completion-complete"),
  ...failing("tool", ...CONTENT, ["json-schema-2020-12", "json-schema-2020-12-tool-found"]),
  ...failing("resources", ...RESOURCES),
  ...failing("prompts", ...PROMPTS),
  ...failing("http", ["dns-rebinding-protection", "localhost-host-rebinding-rejected"]),
];
const sep = (number, reason, ...ids) => Object.fromEntries(ids.map((id) => [`sep-${number}-${id}`, reason]));
const plain = (reason, ...ids) => Object.fromEntries(ids.map((id) => [id, reason]));

/** For each revision every scenario that it requires of a server, with the checks that do not hold and why. */
export const SCENARIOS = {
  "2025-11-25": Object.fromEntries([
    ...BOTH,
    ...held("server-initialize", "ping", "server-session-lifecycle"),
    ...failing("logging", "logging-set-level", "tools-call-with-logging"),
    ...failing("resources", "resources-subscribe", "resources-unsubscribe"),
    ...failing("tool", "tools-call-sampling", "tools-call-elicitation",
      ["elicitation-sep1034-defaults", "elicitation-sep1034-general"],
      ["elicitation-sep1330-enums", "elicitation-sep1330-general"]),
    ["server-sse-polling", { "server-sse-test-reconnection-tool": "tool" }],
  ]),
  "2026-07-28": Object.fromEntries([
    ...BOTH,
    ...held("input-required-result-unsupported-methods", "input-required-result-validate-input", "tasks-status-notifications"),
    ["server-stateless", {
      ...sep(2575, "http", "http-server-header-mismatch-400"),
      ...sep(2575, "tool", "server-rejects-undeclared-capability", "missing-capability-http-400",
        "http-server-no-independent-requests-on-stream", "server-no-log-without-loglevel"),
    }],
    ["caching", {
      ...sep(2549, "prompts", "prompts-list-caching-hints"),
      ...sep(2549, "resources", "resources-list-caching-hints", "resources-templates-list-caching-hints"),
    }],
    ["sep-2164-resource-not-found", sep(2164, "resources", "error-code", "data-uri")],
    ...Object.entries({
      "basic-elicitation": "elicitation-incomplete",
      "basic-sampling": "sampling-incomplete",
      "basic-list-roots": "list-roots-incomplete",
      "request-state": "request-state-incomplete",
      "multiple-input-requests": "multiple-inputs-incomplete",
      "multi-round": "multi-round-r1",
      "missing-input-response": "missing-response-rerequests",
      "non-tool-request": "non-tool-incomplete",
      "result-type": "result-type-included",
      "tampered-state": "reject-tampered-state",
      "capability-check": "respect-client-capabilities",
      "ignore-extra-params": "ignore-unexpected-params",
    }).map(([name, id]) => [`input-required-result-${name}`, sep(2322, "asks", id)]),
    ["http-header-validation", sep(2243, "http", "server-reject-invalid-headers", "server-reject-error-code")],
    ["http-custom-header-server-validation", sep(2243, "http", "server-no-xmcp-tool", "server-decode-base64",
      "server-validate-param-match", "server-reject-invalid-param-chars", "server-reject-param-mismatch")],
    ["tasks-lifecycle", {
      ...plain("tasks", "tasks-sync-tool-call", "tasks-cancel-terminal-idempotent-ack"),
      ...sep(2663, "tasks", "result-type-task-on-create", "tasks-get-status-working", "tasks-get-status-completed",
        "tool-error-uses-completed-status", "tasks-get-status-failed", "cancel-ack-empty-result"),
    }],
    ["tasks-capability-negotiation", {
      ...plain("tasks", "tasks-extension-advertised", "tasks-per-request-meta-opt-in"),
      ...sep(2663, "tasks", "tasks-methods-non-declaring", "server-rejects-undeclared-client"),
    }],
    ["tasks-wire-fields", plain("tasks", "tasks-wire-field-renames", "tasks-no-early-ttl-expiry",
      "tasks-no-related-task-meta-on-inlined-result")],
    ["tasks-request-state-removal", plain("tasks", "tasks-request-state-removal-setup")],
    ["tasks-mrtr-input", {
      ...sep(2663, "tasks", "tasks-get-status-input-required"),
      ...plain("tasks", "tasks-mrtr-tasks-update-resumes", "tasks-mrtr-partial-fulfillment"),
    }],
    ["tasks-request-headers", {
      ...plain("tasks", "tasks-headers-tolerate-mcp-method-on-tools-call", "tasks-headers-reject-mismatched-method"),
      ...sep(2663, "tasks", "routing-headers-accepted-on-tasks-get", "server-rejects-mismatched-mcp-name-on-tasks-get"),
    }],
    ["tasks-dispatch-and-envelope", {
      ...plain("tasks", "tasks-server-directed-creation-no-hint", "tasks-immediate-result-shortcut",
        "tasks-result-type-complete-on-non-task-responses"),
      ...sep(2663, "tasks", "legacy-task-param-ignored", "durable-create-strong-consistency",
        "tasks-get-invalid-task-id-32602"),
    }],
    ["tasks-required-task-error", sep(2663, "tasks", "server-returns-missing-capability-when-required")],
    ["tasks-mrtr-composition", sep(2663, "tasks", "mrtr-synchronous-before-task-creation")],
  ]),
};
