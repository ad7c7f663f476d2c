// Streamable HTTP in front of `bursar serve`, for a suite that speaks nothing else: each POST is one line of standard
// input, byte for byte, and what `serve` writes is what is answered. Judges nothing; for tests on loopback only.
//
// A conversation with a handshake is one process, named by a session id. A request without a handshake is one process
// of its own, so that two clients that use the same id never meet.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const BODY_MAX_BYTES = 8 * 1024 * 1024;
const ANSWER_WITHIN_MS = 20_000;

/** One `bursar serve` and the requests that wait for it. */
class Serve {
  #child;
  #waiting = [];
  strays = [];

  constructor({ command, args, env }) {
    this.#child = spawn(command, args, { env, stdio: ["pipe", "pipe", "ignore"] });
    this.gone = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdin.on("error", () => {}); // it ended; whoever waits is told by `close`
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#came(line));
    this.gone.then(() => this.#waiting.splice(0).forEach(({ over }) => over(undefined)));
  }

  /** Writes a line that needs no answer. */
  tell(line) {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Writes a line; resolves to the line that answers it, or to nothing where the process ends or is silent. */
  ask(line, id, note) {
    return new Promise((resolve) => {
      const late = setTimeout(() => over(undefined), ANSWER_WITHIN_MS);
      const entry = { id, note };
      const over = (answer) => {
        clearTimeout(late);
        this.#waiting = this.#waiting.filter((other) => other !== entry);
        resolve(answer);
      };
      entry.over = over;
      this.#waiting.push(entry);
      this.tell(line);
    });
  }

  async end() {
    this.#child.stdin.end();
    await this.gone;
  }

  #came(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.strays.push(line);
      return;
    }
    if (message.method !== undefined) {
      const token = message.params?.progressToken;
      const listener = this.#waiting.find(({ note }) => note.token !== undefined && note.token === token);
      if (listener) listener.note.heard(line);
      else this.strays.push(line);
      return;
    }
    // A line that could not be read has no id: then it answers what was written last.
    const asked = this.#waiting.find(({ id }) => id === message.id) ?? (message.id == null ? this.#waiting.at(-1) : undefined);
    if (asked) asked.over(line);
    else this.strays.push(line);
  }
}

/** Listens on a free port of loopback. Resolves to `{ url, strays, stop }`; a stray is a line that nobody had asked for. */
export async function openBridge(start) {
  const sessions = new Map();
  const strays = [];
  const finish = async (serve) => {
    await serve.end();
    strays.push(...serve.strays);
  };
  const server = createServer((request, reply) => {
    handle(request, reply).catch((fault) => {
      if (!reply.headersSent) reply.writeHead(500);
      reply.end(String(fault));
    });
  });

  async function handle(request, reply) {
    const named = request.headers["mcp-session-id"];
    if (named !== undefined && !sessions.has(named)) return void reply.writeHead(404).end();
    if (request.method === "DELETE" && named !== undefined) {
      const serve = sessions.get(named);
      sessions.delete(named);
      await finish(serve);
      return void reply.writeHead(204).end();
    }
    if (request.method !== "POST") return void reply.writeHead(405, { allow: "POST, DELETE" }).end();
    const line = await body(request);
    const { id, method, token, isRequest } = sorted(line);
    if (named !== undefined) return answer(sessions.get(named), { line, id, token, isRequest }, reply, {});
    const serve = new Serve(start);
    if (method === "initialize") {
      const session = randomUUID();
      sessions.set(session, serve);
      return answer(serve, { line, id, token, isRequest }, reply, { "mcp-session-id": session });
    }
    await answer(serve, { line, id, token, isRequest }, reply, {});
    await finish(serve);
  }

  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    strays,
    async stop() {
      server.closeAllConnections();
      server.close();
      await Promise.all([...sessions.values()].map(finish));
    },
  };
}

async function answer(serve, { line, id, token, isRequest }, reply, headers) {
  if (!isRequest) {
    serve.tell(line);
    return void reply.writeHead(202, headers).end();
  }
  let streaming = false;
  const heard = (note) => {
    if (!streaming) reply.writeHead(200, { ...headers, "content-type": "text/event-stream" });
    streaming = true;
    reply.write(`event: message\ndata: ${note}\n\n`);
  };
  const told = await serve.ask(line, id, { token, heard });
  if (streaming) return void reply.end(told === undefined ? "" : `event: message\ndata: ${told}\n\n`);
  if (told === undefined) return void reply.writeHead(502, headers).end("no answer");
  reply.writeHead(status(JSON.parse(told)), { ...headers, "content-type": "application/json" }).end(told);
}

/** The status that the revision without sessions wants for an answer; only HTTP has one. */
function status({ error }) {
  if (error === undefined) return 200;
  return { [-32601]: 404, [-32700]: 400, [-32600]: 400, [-32602]: 400, [-32022]: 400 }[error.code] ?? 200;
}

function sorted(line) {
  try {
    const { id, method, params } = JSON.parse(line);
    return { id, method, token: params?._meta?.progressToken, isRequest: id !== undefined && method !== undefined };
  } catch {
    return { isRequest: true };
  }
}

async function body(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > BODY_MAX_BYTES) throw new Error("too long");
    parts.push(part);
  }
  // Line breaks between members mean nothing in JSON, and would end the line here.
  return Buffer.concat(parts).toString("utf8").replaceAll(/[\r\n]+/g, " ");
}
