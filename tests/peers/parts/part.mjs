// The shape of every process of the lab: settings come as one JSON line on stdin, one JSON line on
// stdout says that it is ready, and the end of stdin ends it. So nothing outlives the process that
// started it, even one that was killed.

import { createInterface } from "node:readline";

/**
 * Runs `start(settings)`, which resolves to `{ ready, stop }`: what to tell the parent, and how to end.
 * Everything else that a library prints goes to stderr, which the parent keeps as a log.
 */
export function runPart(start) {
  console.log = console.info = console.error;
  let stop = () => {};
  let ending = false;
  const end = async (code) => {
    if (ending) return;
    ending = true;
    try {
      await stop();
    } finally {
      process.exit(code);
    }
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => end(0));

  const lines = createInterface({ input: process.stdin });
  lines.on("close", () => end(0));
  lines.once("line", async (line) => {
    try {
      const part = await start(JSON.parse(line), (reason) => {
        console.error(reason);
        end(1);
      });
      stop = part.stop ?? stop;
      if (ending) await stop();
      process.stdout.write(`${JSON.stringify(part.ready)}\n`);
    } catch (fault) {
      console.error(fault);
      end(1);
    }
  });
}

/** Listens on a free loopback port and resolves to its number. */
export function listen(server, host) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, () => resolve(server.address().port));
  });
}
