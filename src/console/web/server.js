// Speaks to the console. The cookie is the browser's; the token beside it is in this tab alone, and goes with every request.

const KEY = "bursar-token";
let token = sessionStorage.getItem(KEY);

export const isIn = () => token !== null;

export function forget() {
  token = null;
  sessionStorage.removeItem(KEY);
}

async function asked(name, options) {
  try {
    const reply = await fetch(name, { cache: "no-store", credentials: "same-origin", redirect: "error", ...options });
    const told = await reply.json();
    return { ok: reply.ok, status: reply.status, told };
  } catch {
    return { ok: false, status: 0, told: { code: "console_away", message: "the console does not answer; it may have ended in its terminal" } };
  }
}

const post = (name, form, headers = {}) =>
  asked(name, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(form) });

export async function login(code) {
  const reply = await post("login", { code });
  if (reply.ok) {
    token = reply.told.token;
    sessionStorage.setItem(KEY, token);
  }
  return reply;
}

export const state = () => asked("state", { headers: { "x-bursar-token": token ?? "" } });

export const act = (name, form = {}) => post(name, form, { "x-bursar-token": token ?? "" });
