// Fills in the MCP registry's entry for one release:
//   node packaging/release/entry.mjs OWNER/REPOSITORY BUNDLE > server.json
// BUNDLE is the .mcpb that was released; its SHA-256 goes into the entry, so that clients can check what they fetch.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const [place, bundle] = process.argv.slice(2)
const parts = /^([A-Za-z0-9-]+)\/([A-Za-z0-9._-]+)$/.exec(place ?? '')
if (!parts || !bundle) {
  console.error('usage: node packaging/release/entry.mjs OWNER/REPOSITORY BUNDLE')
  process.exit(2)
}
const template = readFileSync(new URL('../registry/server.json', import.meta.url), 'utf8')
const values = {
  owner: parts[1],
  repository: parts[2],
  version: JSON.parse(template).version,
  sha256: createHash('sha256').update(readFileSync(bundle)).digest('hex'),
}
const entry = template.replace(/\{([a-z0-9]+)\}/g, (_, name) => values[name])
if (!JSON.parse(entry).packages.some(({ identifier }) => basename(identifier) === basename(bundle))) {
  console.error(`${basename(bundle)} is not the bundle that packaging/registry/server.json names`)
  process.exit(1)
}
process.stdout.write(entry)
