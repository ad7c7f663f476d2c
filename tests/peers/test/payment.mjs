// Reads what x402 put on the wire, of both versions: terms, payment and settlement. Judges nothing.

const PAYMENT_HEADERS = ["payment-signature", "x-payment"];
const SETTLEMENT_HEADERS = ["payment-response", "x-payment-response"];

/** The EIP-3009 authorization that a request carries, or undefined for a bare request. */
export function authorizationOf({ headers }) {
  const sent = decoded(headers, PAYMENT_HEADERS);
  return sent?.payload?.authorization;
}

/** The seller's claim about settlement, or undefined. */
export function settlementOf({ headers }) {
  return decoded(headers, SETTLEMENT_HEADERS);
}

/** The terms a 402 carries: in a header (v2), else in the body (v1). */
export function termsOf({ headers, body }) {
  return decoded(headers, ["payment-required"]) ?? JSON.parse(body.toString("utf8"));
}

export function statusOf({ start }) {
  return Number(start.split(" ")[1]);
}

function decoded(headers, names) {
  const [value] = names.flatMap((name) => headers.get(name) ?? []);
  return value === undefined ? undefined : JSON.parse(Buffer.from(value, "base64").toString("utf8"));
}
