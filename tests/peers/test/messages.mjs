// Cuts the raw bytes of one direction of an HTTP/1.1 connection into messages, losing none.

/**
 * Each message: `bytes` as they were on the wire, `start` line, `headers` (name in lower case → values in
 * order), `body` with any chunked framing taken off. `ended` says that the connection is closed, so that
 * a reply without a length is complete. Bytes that make no whole message are returned as `rest`.
 */
export function cut(bytes, ended) {
  const messages = [];
  let at = 0;
  for (;;) {
    const message = one(bytes.subarray(at), ended);
    if (!message) return { messages, rest: bytes.subarray(at) };
    messages.push(message);
    at += message.bytes.length;
  }
}

function one(bytes, ended) {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [start, ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const headers = new Map();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  const after = headEnd + 4;
  const framed = framing(bytes, after, start, headers, ended);
  return framed && { start, headers, body: framed.body, bytes: bytes.subarray(0, framed.end) };
}

/** RFC 9112 section 6.3, without the cases that no peer here uses (HEAD, CONNECT). */
function framing(bytes, from, start, headers, ended) {
  if (headers.get("transfer-encoding")?.join().includes("chunked")) return chunked(bytes, from);
  const length = headers.get("content-length")?.[0];
  if (length !== undefined) return exactly(bytes, from, Number(length));
  const isReply = start.startsWith("HTTP/");
  const bodiless = !isReply || /^HTTP\/1\.1 (1\d\d|204|304)/.test(start);
  if (bodiless) return exactly(bytes, from, 0);
  return ended ? exactly(bytes, from, bytes.length - from) : undefined;
}

function exactly(bytes, from, length) {
  const end = from + length;
  return end <= bytes.length ? { body: bytes.subarray(from, end), end } : undefined;
}

function chunked(bytes, from) {
  const pieces = [];
  let at = from;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    const end = lineEnd + 2 + size + 2;
    if (Number.isNaN(size) || end > bytes.length) return undefined;
    if (size === 0) return { body: Buffer.concat(pieces), end };
    pieces.push(bytes.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}
