// A chain of our own: anvil with the chain id of Base Sepolia, and Circle's USDC contract on it.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { arch, platform } from "node:process";
import { CHAIN_ID, LOOPBACK } from "../lab/constants.mjs";
import { placeToken } from "../lab/token.mjs";
import { runPart } from "./part.mjs";

runPart(async ({ blockSeconds }, failed) => {
  const anvil = spawn(anvilBinary(), [
    ...["--host", LOOPBACK, "--port", "0", "--chain-id", String(CHAIN_ID)],
    // A block at each transaction, and one now and then so that the chain's clock keeps up with ours.
    ...["--mixed-mining", "--block-time", String(blockSeconds)],
    ...["--accounts", "1"],
  ], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = new Promise((resolve) => anvil.once("exit", resolve));
  process.once("exit", () => anvil.kill("SIGKILL")); // also where this process ends while it still starts
  gone.then((code) => failed(`anvil ended by itself (${code})`));
  const stop = async () => {
    anvil.kill("SIGTERM");
    const hard = setTimeout(() => anvil.kill("SIGKILL"), 2_000);
    await gone;
    clearTimeout(hard);
  };
  try {
    const rpc = `http://${await listeningAt(anvil)}`;
    await placeToken(rpc);
    return { ready: { rpc, pid: anvil.pid }, stop };
  } catch (fault) {
    await stop();
    throw fault;
  }
});

function anvilBinary() {
  const cpu = { x64: "amd64", arm64: "arm64" }[arch];
  try {
    return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${platform}-${cpu}/bin/anvil`);
  } catch {
    throw new Error(`no anvil for ${platform} on ${arch} is installed; the lab runs on Linux, x64 or arm64`);
  }
}

/** anvil picks a free port itself and prints it; whatever else it prints is not needed. */
function listeningAt(anvil) {
  return new Promise((resolve, reject) => {
    anvil.once("error", reject);
    anvil.once("exit", (code) => reject(new Error(`anvil ended before it listened (${code})`)));
    createInterface({ input: anvil.stdout }).on("line", (line) => {
      const found = line.match(/^Listening on (\S+)$/);
      if (found) resolve(found[1]);
    });
  });
}
