// Puts the page together: logging in, looking again every two seconds, the views, and what a person does.

import { approvals, showCard } from "./approvals.js";
import { by, isDriven, say, setClock, tick } from "./dom.js";
import { lists } from "./lists.js";
import { overview } from "./overview.js";
import * as server from "./server.js";

const LOOK_MS = 2000;
const LOOK_UNSEEN_MS = 10000;
const HERE_MS = 60000;
const VIEWS = ["overview", "approvals", "payments", "refusals", "people", "log"];

// The purchase that the address asks for, until it was shown.
let wanted = null;
let waitingBefore = null;
let frozenBefore = null;
let timer = null;
let hereAt = 0;

// Logging in and out

function enter() {
  by("login").hidden = true;
  by("inside").hidden = false;
  route();
  look();
}

function door() {
  by("login").hidden = false;
  say(by("login-says"), history.state?.why ?? "");
  history.replaceState(null, "");
  by("code").focus();
}

/** Ends the login here: the page is loaded anew, so that nothing of what it showed stays in it. */
function away(why = "") {
  server.forget();
  clearTimeout(timer);
  by("inside").hidden = true;
  history.replaceState({ why }, "");
  location.reload();
}

by("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  say(by("login-says"), "");
  const reply = await server.login(by("code").value);
  by("code").value = "";
  if (!reply.ok) {
    say(by("login-says"), reply.told.message);
    by("code").focus();
    return;
  }
  enter();
  if (wanted === null) by("overview-title").focus();
});

by("leave").addEventListener("click", async () => {
  await server.act("leave");
  away();
});

// Looking

async function look() {
  clearTimeout(timer);
  const reply = await server.state();
  if (!server.isIn()) return;
  if (reply.status === 401) {
    away("You are not logged in any more. Press Enter in the terminal for a fresh code.");
    return;
  }
  by("trouble").hidden = reply.ok;
  if (reply.ok) render(reply.told);
  else say(by("trouble"), `What is shown may be old: ${reply.told.message}`);
  clearTimeout(timer);
  timer = setTimeout(look, document.hidden ? LOOK_UNSEEN_MS : LOOK_MS);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && server.isIn()) look();
});

function render(state) {
  setClock(state.now_s);
  top(state);
  overview(state, (passphrase) => act("thaw", { passphrase }));
  approvals(state, act);
  lists(state);
  check(state.check);
  tick();
  if (wanted !== null) find();
}

/** Leads to the card of the purchase that the address asks for. */
function find() {
  if (!showCard(wanted)) {
    by("says").hidden = false;
    say(by("says"), `No purchase waits under ${wanted} any more; it may be bought or over.`);
    by("approvals-title").focus();
  }
  wanted = null;
}

function top(state) {
  say(by("setting"), state.sandbox ? "sandbox: play money" : "real money");
  const [kind, word] = state.latched !== null ? ["bad", "shut after a fault"]
    : state.frozen !== null ? ["bad", "frozen"]
      : state.locked ? ["odd", "locked"] : ["good", "paying"];
  by("standing").className = `badge ${kind}`;
  say(by("standing"), word);
  by("freeze").disabled = state.frozen !== null;
  const waiting = state.approvals.filter((one) => one.is === "waiting");
  by("waiting").hidden = waiting.length === 0;
  say(by("waiting"), String(waiting.length));
  document.title = waiting.length === 0 ? "bursar console" : `(${waiting.length}) bursar console`;
  const fresh = waitingBefore === null ? [] : waiting.filter((one) => !waitingBefore.has(one.id));
  if (fresh.length > 0) say(by("announced"), `A purchase waits for you: ${fresh.map((one) => `${one.price} for ${one.what}`).join("; ")}`);
  else if (frozenBefore !== null && frozenBefore !== (state.frozen !== null)) say(by("announced"), state.frozen === null ? "Payments are made again." : "All payments are frozen.");
  waitingBefore = new Set(waiting.map((one) => one.id));
  frozenBefore = state.frozen !== null;
}

function check(now) {
  const at = (seconds) => new Date(seconds * 1000).toLocaleTimeString();
  by("check").disabled = now.is === "running";
  by("check-says").className = now.is === "in_order" ? "banner good" : now.is === "not" ? "banner bad" : "";
  say(by("check-says"), {
    never: () => "Not checked since the console started.",
    running: () => (now.all === 0 ? "Checking …" : `Checked ${now.done} of ${now.all} ${now.what} …`),
    in_order: () => `In order at ${at(now.at_s)}: ${now.events} events, ${now.payments} payments, epoch ${now.epoch}. Head ${now.head}. ${now.signed_to === null ? "No checkpoint is signed yet." : `Signed up to event ${now.signed_to}.`}`,
    not: () => `Not in order, or not to be looked at, at ${at(now.at_s)}: ${now.says}`,
  }[now.is]());
}

// Doing

async function act(name, form = {}) {
  const reply = await server.act(name, form);
  if (reply.status === 401) away("You are not logged in any more. Press Enter in the terminal for a fresh code.");
  else {
    by("says").hidden = !reply.ok;
    say(by("says"), reply.ok ? reply.told.message : "");
    if (!reply.ok && name !== "approve" && name !== "thaw") {
      by("trouble").hidden = false;
      say(by("trouble"), reply.told.message);
    }
    if (reply.ok) await look();
  }
  return reply;
}

by("freeze").addEventListener("click", () => act("freeze"));
by("check").addEventListener("click", () => act("check"));

function here() {
  if (!server.isIn() || Date.now() - hereAt < HERE_MS) return;
  hereAt = Date.now();
  server.act("here");
}
for (const kind of ["keydown", "pointerdown"]) document.addEventListener(kind, here, { passive: true });

// Views

function route() {
  const hash = location.hash.slice(1);
  wanted = /^approval=(a_[0-9a-f]{32})$/.exec(hash)?.[1] ?? null;
  const asked = wanted === null ? hash : "approvals";
  const shown = VIEWS.find((view) => !by(view).hidden);
  const view = VIEWS.includes(asked) ? asked : shown;
  for (const name of VIEWS) by(name).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  return view;
}

addEventListener("hashchange", () => {
  const view = route();
  if (wanted !== null && server.isIn()) look();
  if (view !== location.hash.slice(1)) return;
  by(`${view}-title`).focus({ preventScroll: true });
  scrollTo(0, 0);
  by("says").hidden = true;
});

setInterval(tick, 1000);
for (const warning of document.querySelectorAll(".driven")) warning.hidden = !isDriven;
if (server.isIn()) enter();
else door();
