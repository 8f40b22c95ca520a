/*
 * Prepares a release: `npm run release -- VERSION [--out FOLDER] [--commit]`. Sets the version, makes the unreleased changes a
 * section of the changelog, and writes the package, its bill of materials and their checksums into the folder. Commits and
 * tags only with --commit. If anything fails, the clone is as before.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { hasUnreleased, releaseChanges, releasedVersions } from './release/changelog.mjs'
import { readLock } from './release/libraries.mjs'
import { pack } from './pack.mjs'
import { PrepareError, root } from './prepare.mjs'
import { describeMaterials } from './release/sbom.mjs'

const usage = 'Usage: npm run release -- VERSION [--out FOLDER] [--commit]'
const migrations = 'packages/server/migrations'

class Refusal extends Error {}

/** Standard for builds that can be repeated. */
const date = process.env.SOURCE_DATE_EPOCH
  ? new Date(Number(process.env.SOURCE_DATE_EPOCH) * 1000)
  : new Date()

async function release(version, { out, commit }) {
  if (git('status', '--porcelain') !== '')
    throw new Refusal('The clone has uncommitted changes: commit or discard them first.')
  const { version: current, license } = readJson('package.json')
  const changelog = readText('CHANGELOG.md')
  const previous = releasedVersions(changelog)[0] ?? null
  checkVersion(version, current, previous)
  if (
    commit &&
    spawnSync('git', ['-C', root, 'rev-parse', '-q', '--verify', `refs/tags/v${version}`]).status === 0
  )
    throw new Refusal(`There is a tag v${version} already: delete it, or choose another version.`)
  if (!hasUnreleased(changelog))
    throw new Refusal('The section "Unreleased" of CHANGELOG.md is empty: describe what has changed first.')
  const upgrading = describeUpgrade(version, previous)

  const changed = {
    ...setVersions(current, version),
    'CHANGELOG.md': releaseChanges(changelog, { version, date: date.toISOString().slice(0, 10), upgrading }),
  }
  const before = Object.fromEntries(Object.keys(changed).map((path) => [path, readText(path)]))
  writeAll(changed)
  try {
    const written = await writeRelease(version, license, out)
    if (commit) commitRelease(version, Object.keys(changed))
    return written
  } catch (error) {
    writeAll(before)
    throw error
  }
}

/** A version that was never released may be released as it is. */
function checkVersion(version, current, previous) {
  if (previous !== null && !isNewer(version, previous))
    throw new Refusal(`${version} is not newer than ${previous}, the last release: choose a newer version.`)
  if (version !== current && !isNewer(version, current))
    throw new Refusal(
      `${version} is not newer than ${current}, the version of this clone: choose a newer version.`,
    )
}

function isNewer(version, than) {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number))
  const at = [0, 1, 2].find((index) => a[index] !== b[index])
  return at !== undefined && a[at] > b[at]
}

/** The new contents of all files that name our version. Our packages need each other's exact version. */
function setVersions(current, version) {
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/package.json`)
  const changed = {}
  for (const path of ['package.json', ...packages]) {
    const manifest = readJson(path)
    setVersion(manifest, current, version)
    changed[path] = toText(manifest)
  }
  const lock = readJson('package-lock.json')
  lock.version = version
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '' || /^packages\/[^/]+$/.test(path)) setVersion(entry, current, version)
  }
  changed['package-lock.json'] = toText(lock)
  for (const path of ['deploy/helm/millrace/Chart.yaml', 'deploy/compose.yml']) {
    changed[path] = setDeployedVersion(path, current, version)
  }
  return changed
}

/** The versions of the chart and of our images. */
function setDeployedVersion(path, current, version) {
  const places = new RegExp(
    `(?<=^(?:version|appVersion): |millrace-agent:)${current.replaceAll('.', '\\.')}\\b`,
    'gm',
  )
  const text = readText(path)
  if (text.search(places) === -1) throw new Error(`${path} does not name version ${current}.`)
  return text.replaceAll(places, version)
}

function setVersion(manifest, current, version) {
  manifest.version = version
  for (const kind of ['dependencies', 'devDependencies']) {
    for (const [name, wanted] of Object.entries(manifest[kind] ?? {})) {
      if (!name.startsWith('@millrace/')) continue
      if (wanted !== current) throw new Error(`${manifest.name} needs ${name} ${wanted} and not ${current}.`)
      manifest[kind][name] = version
    }
  }
}

/** A paragraph of the changelog. Refuses migrations that the previous release cannot run with. */
function describeUpgrade(version, previous) {
  const restart =
    'Install this version and restart every process, as docs/install.md describes. Each process migrates the schema when it starts, one process at a time.'
  if (previous === null)
    return `This is the first release. To upgrade a clone of an earlier commit: ${lower(restart)}`
  const added = newMigrations(previous)
  const contracts = added.flatMap((name) => {
    const [, needs] = /^-- contract: needs (\d+\.\d+\.\d+)\n/.exec(readText(`${migrations}/${name}`)) ?? []
    return needs === undefined ? [] : [{ name, needs }]
  })
  const early = contracts.find(({ needs }) => isNewer(needs, previous))
  if (early !== undefined) {
    throw new Refusal(
      `Migration ${early.name} needs ${early.needs}, but ${previous} must run beside ${version}: leave it to the release after.`,
    )
  }
  const count =
    added.length === 0
      ? 'no new migration'
      : added.length === 1
        ? '1 new migration'
        : `${added.length} new migrations`
  const oldest = contracts.map(({ needs }) => needs).sort((a, b) => (isNewer(a, b) ? -1 : 1))[0]
  return [
    restart,
    `This version has ${count}.`,
    `Processes of ${previous} and ${version} may run side by side on one database, so replicas can be replaced one by one.`,
    `Stop processes of older versions before the first one of ${version} starts.`,
    oldest === undefined
      ? `To go back, install ${previous} and restart.`
      : `To go back, install ${previous} and restart; versions before ${oldest} refuse to start on the new schema.`,
  ].join(' ')
}

const lower = (text) => text[0].toLowerCase() + text.slice(1)

function newMigrations(previous) {
  const commit = git('log', '--format=%H', '-S', `## ${previous} (`, '--', 'CHANGELOG.md').split('\n').at(-1)
  if (!commit) {
    throw new Refusal(
      `The history of this clone has no commit that released ${previous}: fetch all of it, with git fetch --unshallow.`,
    )
  }
  const then = new Set(git('ls-tree', '--name-only', `${commit}:${migrations}`).split('\n'))
  return readdirSync(join(root, migrations)).filter((name) => name.endsWith('.sql') && !then.has(name))
}

/** Returns the paths of the written files. */
async function writeRelease(version, license, out) {
  const { file, libraries, binaries } = await pack(out)
  const { optionalDependencies } = readJson('packages/server/package.json')
  const lock = readLock()
  const optional = Object.keys(optionalDependencies).map((name) => ({
    name,
    ...lock[`node_modules/${name}`],
  }))
  const sha256 = sha256Of(file)
  const materials = join(out, `millrace-${version}.cdx.json`)
  const parts = { version, license, date, sha256, libraries, binaries, optional }
  writeFileSync(materials, toText(describeMaterials(parts)))
  const sums = join(out, 'SHA256SUMS')
  const lines = [file, materials].map((path) => `${sha256Of(path)}  ${basename(path)}\n`)
  writeFileSync(sums, lines.join(''))
  return [file, materials, sums]
}

function commitRelease(version, paths) {
  git('commit', '-q', '-m', `release: Set the version to ${version}`, '--', ...paths)
  git('tag', '-a', `v${version}`, '-m', `Millrace ${version}`)
}

const sha256Of = (path) => createHash('sha256').update(readFileSync(path)).digest('hex')
const readText = (path) => readFileSync(join(root, path), 'utf8')
const readJson = (path) => JSON.parse(readText(path))
const toText = (value) => `${JSON.stringify(value, null, 2)}\n`

function writeAll(files) {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
}

function git(...args) {
  try {
    return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch (error) {
    throw new Refusal(`git ${args[0]} failed: ${String(error.stderr || error.message).trim()}`)
  }
}

function readArguments() {
  try {
    const options = { out: { type: 'string' }, commit: { type: 'boolean', default: false } }
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const [version, ...others] = positionals
    if (others.length > 0 || !/^\d+\.\d+\.\d+$/.test(version ?? '')) throw new Error('VERSION is like 1.2.3.')
    const out =
      values.out === undefined ? join(root, 'dist') : resolve(process.env.INIT_CWD ?? '', values.out)
    return { version, out, commit: values.commit }
  } catch (error) {
    console.error(`${error.message}\n${usage}`)
    process.exit(2)
  }
}

const { version, ...options } = readArguments()
try {
  for (const path of await release(version, options)) console.log(path)
  console.log(
    options.commit
      ? `Committed and tagged v${version}. Push both, and publish the files.`
      : `Not committed. Look at the changes in ${relative(process.cwd(), root) || 'this clone'}, commit and tag them as v${version}, and publish the files.`,
  )
} catch (error) {
  if (!(error instanceof Refusal || error instanceof PrepareError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
