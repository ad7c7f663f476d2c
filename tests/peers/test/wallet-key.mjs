// The key of a sandbox, for what only its holder can do on a chain: cancel an authorization. Play money only.

import { createDecipheriv, scryptSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { privateKeyToAccount } from "viem/accounts";

/** The account in the key file of a sandbox (Web3 Secret Storage, version 3). */
export function accountOf(sandbox, passphrase) {
  const { crypto } = JSON.parse(readFileSync(join(sandbox, "keystore.json"), "utf8"));
  const { n, r, p, dklen, salt } = crypto.kdfparams;
  const key = scryptSync(passphrase, Buffer.from(salt, "hex"), dklen, { N: n, r, p, maxmem: 256 * n * r });
  const iv = Buffer.from(crypto.cipherparams.iv, "hex");
  const cipher = createDecipheriv(crypto.cipher, key.subarray(0, 16), iv);
  const secret = Buffer.concat([cipher.update(Buffer.from(crypto.ciphertext, "hex")), cipher.final()]);
  return privateKeyToAccount(`0x${secret.toString("hex")}`);
}
