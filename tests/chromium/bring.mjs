// Unpacks the Chromium of an npm package for the tests, where none is installed. Needs no root and starts nothing.
//
//   npm ci && node bring.mjs     writes target/tests/chromium/chromium, which starts it

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { arch, platform } from "node:process";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

if (platform !== "linux" || arch !== "x64") {
  console.error(`the packaged Chromium runs on Linux, x64; install one for ${platform}, ${arch} yourself`);
  process.exit(4);
}

const packed = fileURLToPath(new URL("node_modules/@sparticuz/chromium/bin/", import.meta.url));
const place = fileURLToPath(new URL("../../target/tests/chromium/", import.meta.url));
const fresh = `${place.slice(0, -1)}.new`;
const unpacked = (name) => brotliDecompressSync(readFileSync(join(packed, name)));

rmSync(fresh, { recursive: true, force: true });
mkdirSync(fresh, { recursive: true });
writeFileSync(join(fresh, "program"), unpacked("chromium.br"), { mode: 0o755 });
for (const name of ["al2023.tar.br", "swiftshader.tar.br", "fonts.tar.br"]) {
  execFileSync("tar", ["-x", "-f", "-", "-C", fresh], { input: unpacked(name) });
}
// Beside the program are the libraries that a bare system lacks.
writeFileSync(join(fresh, "chromium"), `#!/bin/sh
here=$(dirname "$0")
LD_LIBRARY_PATH=$here/lib exec "$here/program" "$@"
`, { mode: 0o755 });
rmSync(place, { recursive: true, force: true });
renameSync(fresh, place);
