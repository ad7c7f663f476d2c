// Runs a program that does not watch its parent (the vault of bursar), and ends it when its own parent goes.

import { spawn } from "node:child_process";
import { runPart } from "./part.mjs";

runPart(async ({ command, args, env }, failed) => {
  const program = spawn(command, args, { stdio: ["ignore", 2, 2], env });
  const gone = new Promise((resolve) => {
    program.once("exit", resolve);
    program.once("error", resolve);
  });
  gone.then((why) => failed(`it ended by itself (${why})`));
  const stop = async () => {
    program.kill("SIGTERM");
    const hard = setTimeout(() => program.kill("SIGKILL"), 3_000);
    await gone;
    clearTimeout(hard);
  };
  return { ready: { pid: program.pid }, stop };
});
