// Elements from values. Text becomes text nodes and nothing else: there is no way from a string to markup in here.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element with attributes, listeners (functions, by the event's name) and children. */
export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** The same in a drawing. */
export const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Whether a program drives this browser and says so: it could read what is typed, and change what is shown. */
export const isDriven = navigator.webdriver === true;

export const by = (id) => document.getElementById(id);

/** Sets a text only where it differs, so that nothing is read out twice. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const shown = new WeakMap();

/** Builds what is in `place` anew only where `value` differs from what is shown. */
export function show(place, value, build) {
  const key = JSON.stringify(value);
  if (shown.get(place) === key) return;
  shown.set(place, key);
  place.replaceChildren(...[build(value)].flat());
}

/** Keeps one element for each item, by its key: what a person types into one stays. */
export function keep(place, items, keyOf, make, update) {
  const had = new Map([...place.children].map((child) => [child.dataset.key, child]));
  const wanted = items.map((item) => {
    const key = keyOf(item);
    let element = had.get(key);
    if (!element) {
      element = make(item);
      element.dataset.key = key;
    }
    had.delete(key);
    update(element, item);
    return element;
  });
  for (const gone of had.values()) gone.remove();
  wanted.forEach((element, at) => {
    if (place.children[at] !== element) place.insertBefore(element, place.children[at] ?? null);
  });
}

// Time, by the ledger's clock.

let ahead = 0;
const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const short = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

export function setClock(nowSeconds) {
  ahead = nowSeconds - Date.now() / 1000;
}

const now = () => Date.now() / 1000 + ahead;

export const time = (seconds, form = local) =>
  h("time", { datetime: new Date(seconds * 1000).toISOString() }, form.format(new Date(seconds * 1000)));

export const shortTime = (seconds) => time(seconds, short);

function left(until) {
  const seconds = Math.max(0, Math.round(until - now()));
  if (seconds === 0) return "over";
  const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  if (days > 0) return `${days} d ${hours} h left`;
  if (hours > 0) return `${hours} h ${minutes} min left`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s left` : `${seconds} s left`;
}

/** A time left that goes on by itself. */
export const countdown = (until) => h("span", { "data-until": until }, left(until));

export function tick() {
  for (const element of document.querySelectorAll("[data-until]")) say(element, left(Number(element.dataset.until)));
}
