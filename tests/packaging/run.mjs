// Checks what is in packaging/ against the program, its sources and the tools that read such files:
//   node tests/packaging/run.mjs --bursar target/debug/bursar
// The bundle by the npm package that packs and opens bundles, the units by systemd's own tools. Images are read, not built.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = resolve(here, '../..')
const bursar = resolve(process.argv[process.argv.indexOf('--bursar') + 1] ?? '')
assert(process.argv.includes('--bursar') && existsSync(bursar), 'usage: node tests/packaging/run.mjs --bursar PROGRAM')
const read = (path) => readFileSync(join(root, path), 'utf8')
const version = /^version = "(.*)"$/m.exec(read('Cargo.toml'))[1]
const work = mkdtempSync(join(tmpdir(), 'bursar-packaging-'))

const checks = {
  'the bundle is valid, names this version and these tools, and its program runs': () => {
    const manifest = JSON.parse(read('packaging/mcpb/manifest.json'))
    const mcpb = (...words) => execFileSync(join(here, 'node_modules/.bin/mcpb'), words, { encoding: 'utf8' })
    mcpb('validate', join(root, 'packaging/mcpb/manifest.json'))
    assert.equal(manifest.version, version)
    const schemas = readdirSync(join(root, 'tools/schemas')).map((name) => JSON.parse(read(`tools/schemas/${name}`)).name)
    assert.deepEqual(manifest.tools.map(({ name }) => name).sort(), schemas.sort())

    const bundle = join(work, `bursar-${version}-x86_64-unknown-linux-gnu.mcpb`)
    const write = (out) => execFileSync('python3', [join(root, 'packaging/release/bundle.py'), bursar, out])
    write(bundle)
    const again = join(work, 'again.mcpb')
    write(again)
    assert(readFileSync(bundle).equals(readFileSync(again)), 'the same program gives the same bytes')
    const opened = join(work, 'opened')
    mcpb('unpack', bundle, opened)
    const command = manifest.server.mcp_config.command.replace('${__dirname}', opened)
    assert.equal(command, join(opened, manifest.server.entry_point))
    assert.equal(statSync(command).mode & 0o111, 0o111, 'the program in the bundle can be started')
    assert.match(execFileSync(command, ['--version'], { encoding: 'utf8' }), new RegExp(`^bursar ${version.replaceAll('.', '\\.')}`))
    const words = manifest.server.mcp_config.args.map((word) => word.replace('${user_config.session}', manifest.user_config.session.default))
    const sandbox = join(work, 'no sandbox')
    const said = spawnSync(command, ['--sandbox', sandbox, ...words], { encoding: 'utf8', env: {}, input: '' })
    assert.equal(said.status, 4, said.stderr)
    assert.match(said.stderr, /bursar .*init/, 'whoever installed the bundle and nothing else hears what to do')
  },

  "the registry's entry is filled in for one release and has the fields that the registry wants": () => {
    const bundle = join(work, `bursar-${version}-x86_64-unknown-linux-gnu.mcpb`)
    writeFileSync(bundle, 'the bundle')
    const entry = (...words) =>
      spawnSync(process.execPath, [join(root, 'packaging/release/entry.mjs'), ...words], { encoding: 'utf8' })
    const server = JSON.parse(entry('some-owner/some-place', bundle).stdout)
    assert.equal(server.version, version)
    assert.match(server.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    for (const [key, most] of [['name', 200], ['title', 100], ['description', 100], ['version', 255]]) {
      assert(server[key].length >= 1 && server[key].length <= most, `${key} has ${server[key].length} characters`)
    }
    assert(!JSON.stringify(server).includes('{'.concat('owner')), 'nothing is left open')
    assert.equal(server.$schema, 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json')
    assert.deepEqual(server.repository, { url: 'https://github.com/some-owner/some-place', source: 'github' })
    const [pack, ...more] = server.packages
    assert.equal(more.length, 0)
    assert.equal(pack.registryType, 'mcpb')
    assert.equal(pack.version, version)
    assert.equal(pack.identifier, `https://github.com/some-owner/some-place/releases/download/v${version}/${basename(bundle)}`)
    assert.equal(pack.fileSha256, createHash('sha256').update('the bundle').digest('hex'))
    assert.deepEqual(pack.transport, { type: 'stdio' })
    assert.equal(entry('some-owner/some-place', join(root, 'README.md')).status, 1, 'another file is no bundle')
    for (const words of [[], ['nobody'], ['a/b/c', bundle], ['some-owner/some-place']]) assert.equal(entry(...words).status, 2)
  },

  "systemd takes the unit, and the folders come out with their owners and modes": () => {
    for (const tool of ['systemd-analyze', 'systemd-sysusers', 'systemd-tmpfiles']) {
      const there = spawnSync(tool, ['--version'])
      assert(!there.error, `this test needs \`${tool}\`: install systemd (Debian: \`apt-get install systemd\`)`)
    }
    const unit = join(work, 'bursar-vault.service')
    const text = read('packaging/systemd/bursar-vault.service')
    assert(text.includes('\nExecStart=/usr/bin/bursar vault\n'))
    writeFileSync(unit, text.replace('/usr/bin/bursar', bursar))
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' })
    // Units of the machine that the tool loads as well may have faults of their own.
    const ours = verified.stderr.split('\n').filter((line) => line.includes('bursar'))
    assert.deepEqual(ours, [])
    const judged = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit], { encoding: 'utf8' })
    assert.equal(judged.status, 0, `exposed more than 2.0 of 10: ${judged.stdout.split('\n').slice(-3).join(' ')}${judged.stderr}`)

    const image = join(work, 'image')
    for (const kind of ['sysusers', 'tmpfiles']) {
      mkdirSync(join(image, `usr/lib/${kind}.d`), { recursive: true })
      cpSync(join(root, `packaging/systemd/bursar.${kind}.conf`), join(image, `usr/lib/${kind}.d/bursar.conf`))
    }
    mkdirSync(join(image, 'etc/bursar'), { recursive: true })
    cpSync(join(root, 'packaging/systemd/vault.toml'), join(image, 'etc/bursar/vault.toml'))
    execFileSync('systemd-sysusers', [`--root=${image}`])
    execFileSync('systemd-tmpfiles', [`--root=${image}`, '--create'])
    const [name, , uid, gid, , home, shell] = /^bursar:.*$/m.exec(readFileSync(join(image, 'etc/passwd'), 'utf8'))[0].split(':')
    assert.deepEqual([name, home, shell], ['bursar', '/var/lib/bursar', '/usr/sbin/nologin'])
    assert.notEqual(uid, '0')
    for (const [path, mode, owner, group] of [
      ['etc/bursar', 0o755, '0', '0'],
      ['etc/bursar/vault.toml', 0o644, '0', '0'],
      ['var/lib/bursar', 0o700, uid, gid],
      ['run/bursar', 0o711, uid, gid],
    ]) {
      const found = statSync(join(image, path))
      assert.deepEqual([found.mode & 0o7777, `${found.uid}`, `${found.gid}`], [mode, owner, group], path)
    }
  },

  'the images keep the vault apart: no user, no folder but the sockets, no right is shared': () => {
    const { services, volumes } = parse(read('packaging/docker/compose.yaml'), { merge: true })
    assert.deepEqual(Object.keys(services), ['vault', 'serve'])
    const mounts = (name) => services[name].volumes.map((mount) => mount.split(':')[0])
    assert.deepEqual(mounts('vault').filter((mount) => mounts('serve').includes(mount)), ['sockets'])
    for (const mount of [...mounts('vault'), ...mounts('serve')]) assert(mount in volumes, `${mount} is a folder of the machine's`)
    for (const [name, service] of Object.entries(services)) {
      assert.equal(service.read_only, true, name)
      assert.deepEqual(service.cap_drop, ['ALL'], name)
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
      assert(!service.privileged && !service.ports && !service.pid && !service.ipc && !service.environment, name)
      assert.equal(service.build.target, name)
    }
    const dockerfile = read('packaging/docker/Dockerfile')
    const listed = Object.fromEntries(
      [...read('packaging/docker/vault.toml').matchAll(/^(\w+) = \[?"?([^"\]\n]*)"?\]?$/gm)].map(([, key, value]) => [key, value]),
    )
    assert.deepEqual(Object.keys(listed), ['vault', 'agents', 'operators', 'sockets'])
    for (const uid of [listed.vault, listed.agents, listed.operators]) assert(dockerfile.includes(`useradd --uid ${uid} `), uid)
    assert(dockerfile.includes(`install -d -o bursar -g bursar -m 0711 ${listed.sockets}`))
    const stage = (name) => dockerfile.split(/^FROM /m).find((text) => text.startsWith(`base AS ${name}\n`))
    assert(stage('vault').includes(`USER ${listed.vault}:`) && stage('serve').includes(`USER ${listed.agents}:`))
    assert(!/^ARG|^ENV/m.test(dockerfile), 'no secret and no setting comes by the environment')
  },

  'a release is built from pinned parts, with no more rights than it needs, and says what was not verified': () => {
    const flow = parse(read('.github/workflows/release.yml'))
    assert.deepEqual(flow.permissions, {})
    assert.deepEqual(Object.keys(flow.on), ['push'])
    for (const [name, job] of Object.entries(flow.jobs)) {
      const writes = Object.entries(job.permissions).filter(([, right]) => right === 'write')
      assert(name === 'publish' || writes.length === 0, `${name} may write`)
      for (const step of job.steps) {
        if (step.uses) assert.match(step.uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/, step.uses)
        assert(!/\$\{\{ *(github\.(event|head_ref|ref_name)|inputs)/.test(step.run ?? ''), 'no foreign word in a script')
      }
    }
    assert.equal(flow.jobs.linux.needs, 'test')
    const targets = flow.jobs.unverified.strategy.matrix.include.map(({ target }) => target)
    assert(targets.length && targets.every((target) => /apple-darwin|pc-windows/.test(target)))
    assert(flow.jobs.linux.strategy.matrix.target.every((target) => target.endsWith('-linux-gnu')))
    const publish = flow.jobs.publish.steps.map(({ run }) => run ?? '').join('\n')
    for (const part of ['SHA256SUMS', 'cargo-cyclonedx --locked --version', 'entry.mjs', '--verify-tag', 'unverified']) {
      assert(publish.includes(part), part)
    }
    const rust = /^rust-version = "(.*)"$/m.exec(read('Cargo.toml'))[1]
    for (const [, named] of read('.github/workflows/release.yml').matchAll(/rustup toolchain install (\S+)/g)) assert.equal(named, `${rust}.0`)
    execFileSync('bash', ['-n', join(root, 'packaging/release/build')])
    const bin = /\[package\.metadata\.binstall\]\n([^[]*)/.exec(read('Cargo.toml'))[1]
    assert(bin.includes('bursar-{ version }-{ target }.tar.gz'), 'cargo-binstall fetches what the build writes')
    assert(read('packaging/release/build').includes('name=bursar-$version-$target'))
  },
}

let failed = 0
for (const [name, check] of Object.entries(checks)) {
  try {
    check()
    console.log(`ok      ${name}`)
  } catch (fault) {
    failed += 1
    console.log(`FAILED  ${name}\n${fault.stack}`)
  }
}
rmSync(work, { recursive: true })
console.log(`packaging: ${Object.keys(checks).length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
