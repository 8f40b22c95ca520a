import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needing } from '../../../../testbed/src/needing.ts'
import { aFolder, anAgent } from '../../test/agent.ts'
import type { Setup } from '../../test/agent.ts'
import { serveCaches } from '../../test/cache-server.ts'
import type { CacheServer } from '../../test/cache-server.ts'

interface Caching extends Setup {
  caches: CacheServer
  checkout: string
  /** Runs a job and returns its log. The checkout is empty before, unless `keep`. */
  run(
    command: string,
    paths: string[],
    given?: { env?: Record<string, string>; keep?: boolean },
  ): Promise<string>
}

async function aCachingAgent(): Promise<Caching> {
  const setup = await anAgent()
  const caches = serveCaches(setup.server)
  const checkout = join(setup.folder, 'builds', 'tester', 'acme', 'demo')
  const HOME = join(setup.folder, 'home')
  mkdirSync(HOME)
  return {
    ...setup,
    caches,
    checkout,
    async run(command, paths, { env = {}, keep = false } = {}) {
      const clean = keep ? {} : { BUILDKITE_CLEAN_CHECKOUT: 'true' }
      const id = setup.server.offer(
        { HOME, BUILDKITE_COMMAND: command, ...clean, ...env },
        { step: { cache: { paths } } },
      )
      const { exit_status } = await setup.server.finished(id)
      return `${setup.server.log(id)}exit ${exit_status}\n`
    },
  }
}

const isRoot = process.getuid?.() === 0

describe('the cache of a step on the server', () => {
  it('restores files, folders, links, modes and times as they were', async () => {
    const { run, checkout, caches } = await aCachingAgent()
    const fill = `
      mkdir -p deps/a/b deps/empty deps/locked
      printf one > deps/a/one; printf '' > deps/a/none; printf run > deps/a/b/run; chmod 751 deps/a/b/run
      printf kept > deps/locked/file; chmod 444 deps/locked/file; chmod 555 deps/locked
      ln -s a/one deps/link; ln -s /nowhere deps/broken; ln -s ../outside deps/a/up
      printf 'late' > 'deps/ö & "x"'; touch -d '2020-01-02 03:04:05.5 UTC' deps/a/one; mkfifo deps/pipe
      printf single > single; chmod 600 single`
    const first = await run(fill, ['deps', 'single', 'missing'])
    expect(first).toContain('# There is no cache yet')
    expect(first).toMatch(/# Saved 6 files, 20 B; 1 of 1 pack changed, \d+ B sent in [\d.]+ s\n/)
    expect(first).toContain('# Sockets, pipes and devices are not cached: 1 left out')
    chmodSync(join(checkout, 'deps', 'locked'), 0o755)
    const second = await run('cat deps/a/b/run single', ['deps', 'single', 'missing'])
    expect(second).toMatch(
      /# Restored 6 files, 20 B, from branch main, saved at \S+; \d+ B received in [\d.]+ s\n/,
    )
    expect(second).toContain('runsingle')
    const found = (path: string) => lstatSync(join(checkout, path))
    expect([found('deps/a/b/run').mode & 0o777, found('single').mode & 0o777]).toEqual([0o751, 0o600])
    expect([found('deps/locked').mode & 0o777, found('deps/locked/file').mode & 0o777]).toEqual([
      0o555, 0o444,
    ])
    expect(found('deps/a/one').mtime.toISOString()).toBe('2020-01-02T03:04:05.500Z')
    expect(readdirSync(join(checkout, 'deps', 'empty'))).toEqual([])
    expect(found('deps/a/none').size).toBe(0)
    expect(readlinkSync(join(checkout, 'deps/link'))).toBe('a/one')
    expect(readlinkSync(join(checkout, 'deps/broken'))).toBe('/nowhere')
    expect(readlinkSync(join(checkout, 'deps/a/up'))).toBe('../outside')
    expect(readFileSync(join(checkout, 'deps/ö & "x"'), 'utf8')).toBe('late')
    expect(existsSync(join(checkout, 'missing'))).toBe(false)
    expect(readdirSync(checkout).toSorted()).toEqual(['deps', 'single'])
    expect(caches.damaged).toEqual([])
    chmodSync(join(checkout, 'deps', 'locked'), 0o755)
  })

  it('restores 1,000 small files and a large one, and sends only what changed', async () => {
    const { run, caches, checkout } = await aCachingAgent()
    const source = await aFolder()
    for (let index = 0; index < 1000; index += 1) {
      const folder = join(source, `d${index % 100}`)
      if (index < 100) mkdirSync(folder)
      writeFileSync(join(folder, `f${index}`), `${index} `.repeat(2000))
    }
    writeFileSync(join(source, 'large'), Buffer.alloc(40_000_000, 'a large file '))
    const first = await run(`cp -a ${source} deps`, ['deps'])
    expect(first).toContain('# Saved 1,001 files')
    const sentAtFirst = caches.sent.length
    expect(sentAtFirst).toBeGreaterThan(6)
    const same = await run(`diff -r ${source} deps && echo same`, ['deps'])
    expect(same).toContain('\nsame\n')
    expect(same).toContain('# The cache is as it was restored, so it is not saved')
    expect(caches.sent).toHaveLength(sentAtFirst)
    const changed = await run(`printf x >> deps/d7/f107; printf new > deps/d9/new; rm deps/d50/f50`, ['deps'])
    expect(changed).toMatch(/# Saved 1,001 files, .*; [1-6] of \d+ packs changed/)
    await run('true', ['deps'])
    for (const path of ['d7/f107', 'd50/f50']) rmSync(join(source, path))
    writeFileSync(join(source, 'd9', 'new'), 'new')
    rmSync(join(checkout, 'deps', 'd7', 'f107'))
    expect(execFileSync('diff', ['-r', source, join(checkout, 'deps')], { encoding: 'utf8' })).toBe('')
  })

  it('notices a change that keeps size and time', async () => {
    const { run, caches } = await aCachingAgent()
    await run(`mkdir deps; printf one > deps/a; touch -d '2020-01-01' deps/a`, ['deps'])
    const before = caches.saved?.manifest.digest
    const log = await run(`printf two > deps/a; touch -d '2020-01-01' deps/a`, ['deps'])
    expect(log).toContain('1 of 1 pack changed')
    expect(caches.saved?.manifest.digest).not.toBe(before)
    expect(await run('cat deps/a', ['deps'])).toContain('\ntwo')
  })

  it('keeps files of the checkout, but not over those of the cache', async () => {
    const { run, checkout } = await aCachingAgent()
    await run('mkdir -p deps/in; printf cached > deps/a; printf cached > deps/in/b', ['deps'])
    rmSync(checkout, { recursive: true })
    mkdirSync(join(checkout, 'deps', 'in'), { recursive: true })
    mkdirSync(join(checkout, 'deps', 'closed'))
    for (const path of ['a', 'in/c', 'd', 'closed/e'])
      writeFileSync(join(checkout, 'deps', path), 'checked out')
    chmodSync(join(checkout, 'deps', 'closed'), 0o555)
    const log = await run('cat deps/a deps/in/b deps/in/c deps/d deps/closed/e', ['deps'], { keep: true })
    expect(log).toContain('cachedcachedchecked outchecked outchecked out')
    chmodSync(join(checkout, 'deps', 'closed'), 0o755)
  })

  it('is saved only after a command that succeeded', async () => {
    const { run, caches } = await aCachingAgent()
    const log = await run('mkdir deps; printf x > deps/a; exit 3', ['deps'])
    expect(log).not.toContain('Saving the cache')
    expect([log.slice(-7), caches.saved]).toEqual(['exit 3\n', null])
  })

  it('never fails a job: a damaged or missing blob means that there is no cache', async () => {
    const { run, caches, checkout } = await aCachingAgent()
    await run('mkdir deps; printf 123456789 > deps/a; printf b > other', ['deps', 'other'])
    const { manifest, blobs } = caches.saved ?? { manifest: null, blobs: [] }
    const [pack] = blobs
    const whole = new Map(caches.blobs)
    const damages: Array<[string, string, (bytes: Buffer) => Buffer | null]> = [
      ['a missing pack', pack?.digest ?? '', () => null],
      ['a missing manifest', manifest?.digest ?? '', () => null],
      [
        'another byte',
        pack?.digest ?? '',
        (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from('!')]),
      ],
      ['a pack that ends early', pack?.digest ?? '', (bytes) => bytes.subarray(0, 3)],
      ['an empty pack', pack?.digest ?? '', () => Buffer.alloc(0)],
      [
        'another manifest',
        manifest?.digest ?? '',
        (bytes) => Buffer.from(String(bytes).replace('deps', 'dips')),
      ],
    ]
    for (const [what, digest, damage] of damages) {
      caches.blobs = new Map(whole)
      const bytes = damage(Buffer.from(whole.get(digest) ?? ''))
      if (bytes === null) caches.blobs.delete(digest)
      else caches.blobs.set(digest, bytes)
      const log = await run('ls -A; false || exit 0', ['deps', 'other'])
      expect([what, log]).toEqual([
        what,
        expect.stringMatching(/# The job runs without a cache: .*[^]*exit 0\n$/),
      ])
      expect([what, readdirSync(checkout)]).toEqual([what, []])
      expect([what, caches.damaged.splice(0)]).toEqual([what, [digest]])
    }
  })

  it('runs without a cache when the server fails, or knows none', async () => {
    const { run, server } = await aCachingAgent()
    server.answer(/cache\/restore/, () => ({ status: 503, body: { message: 'The store is down' } }))
    expect(await run('echo ran', ['deps'])).toMatch(
      /# The job runs without a cache: .*The store is down[^]*ran\nexit 0/,
    )
    server.answer(/cache\/restore/, () => ({ status: 404, body: { message: 'Not found' } }))
    expect(await run('echo ran', ['deps'])).toMatch(/# The job runs without a cache: [^]*ran\nexit 0/)
  })

  it('is not saved when the server fails, the job may not, or it is too large', async () => {
    const { run, caches, server } = await aCachingAgent()
    const fill = 'mkdir deps; printf 0123456789 > deps/a'
    caches.mostBytes = 9
    expect(await run(fill, ['deps'])).toMatch(/# The cache is not saved: it has more than 9 bytes[^]*exit 0/)
    caches.mostBytes = 10
    caches.refusal = 'builds of forks never write it'
    expect(await run(fill, ['deps'])).toMatch(
      /# The cache is not saved: builds of forks never write it\n[^]*exit 0/,
    )
    caches.refusal = null
    server.answer(/^PUT .*\/cache$/, () => ({ status: 422, body: { message: 'Some blobs are missing.' } }))
    expect(await run(fill, ['deps'])).toMatch(/# The cache is not saved: .*Some blobs are missing[^]*exit 0/)
    server.answer(/^PUT \/v3\/caches/, () => ({ status: 503, body: {} }))
    expect(await run(`${fill}1`, ['deps'])).toMatch(/# The cache is not saved: .*503[^]*exit 0/)
    expect(caches.saved).toBeNull()
  })

  needing('not-root', isRoot ? 'root can read every file' : null).it(
    'is not saved with a file that cannot be read',
    async () => {
      const { run, caches } = await aCachingAgent()
      const log = await run('mkdir deps; printf x > deps/a; chmod 0 deps/a', ['deps'])
      expect(log).toMatch(/# The cache is not saved: EACCES.*deps\/a[^]*exit 0/)
      expect(caches.saved).toBeNull()
    },
  )

  it('is not saved with a name that is not UTF-8', async () => {
    const { run, caches } = await aCachingAgent()
    const log = await run(`mkdir deps; printf x > deps/$(printf '\\377')`, ['deps'])
    expect(log).toMatch(/# The cache is not saved: the name of .* is not valid UTF-8/)
    expect(caches.saved).toBeNull()
  })

  it('finds absolute paths and those below the home folder', async () => {
    const { run, folder } = await aCachingAgent()
    const outside = join(folder, 'elsewhere', 'store')
    await run(`mkdir -p ~/.cache/x ${outside}; printf home > ~/.cache/x/a; printf out > ${outside}/b`, [
      '~/.cache/x',
      outside,
    ])
    rmSync(join(folder, 'home', '.cache'), { recursive: true })
    rmSync(join(folder, 'elsewhere'), { recursive: true })
    expect(await run(`cat ~/.cache/x/a ${outside}/b`, ['~/.cache/x', outside])).toContain('homeout')
  })

  it('never leads out of the checkout by `..` or by a link, and never replaces the checkout or a link', async () => {
    const { run, checkout, folder, caches } = await aCachingAgent()
    const outside = join(folder, 'outside')
    mkdirSync(outside)
    const paths = ['.', '..', '/', '../x', 'way/x', 'linked', 'deps', 'deps/inner']
    const setUp = () => {
      rmSync(checkout, { recursive: true, force: true })
      mkdirSync(checkout, { recursive: true })
      symlinkSync(outside, join(checkout, 'way'))
      symlinkSync(outside, join(checkout, 'linked'))
    }
    setUp()
    const log = await run('mkdir -p way/x deps/inner; printf x > way/x/f; printf y > deps/inner/f', paths, {
      keep: true,
    })
    expect(log).toContain('# .: holds more than a cache, left out')
    expect(log).toContain('# /: holds more than a cache, left out')
    expect(log).toContain('# ../x: leads out of the checkout, left out; an absolute path can be cached')
    expect(log).toContain('# way/x: leads out of the checkout by a link, left out')
    expect(log).toContain('# linked: is a link, left out')
    expect(log).toContain('# deps/inner: is a part of deps, cached with it')
    expect(log).toContain('# Saved 1 file, 1 B')
    // The cache has a folder where the next checkout has a link.
    const all = ['way', 'deps']
    rmSync(checkout, { recursive: true })
    await run('mkdir -p way/x deps; printf cached > way/x/f; printf z > deps/f', all)
    setUp()
    writeFileSync(join(outside, 'x', 'f'), 'untouched')
    const next = await run('cat way/x/f deps/f', all, { keep: true })
    expect(next).toContain('# way: is a link, left out')
    expect(next).toContain('untouchedz')
    expect(caches.damaged).toEqual([])
  })

  it('is unpacked by nobody from a manifest that leads elsewhere', async () => {
    const { run, caches, checkout, folder } = await aCachingAgent()
    await run('mkdir deps; printf x > deps/a', ['deps'])
    const { manifest } = caches.saved ?? { manifest: { digest: '', size: 0 } }
    const { encodeBlob, digestOf } = await import('../cache/blob-bytes.ts')
    const pack = caches.saved?.blobs.map(({ digest, size }) => [digest, size])
    const attacks: unknown[][] = [
      [
        ['d', '', 0o755],
        ['f', '../escaped', 0o644, 1, 1],
      ],
      [
        ['d', '', 0o755],
        ['f', '/tmp/escaped', 0o644, 1, 1],
      ],
      [
        ['d', '', 0o755],
        ['l', 'way', folder],
        ['f', 'way/escaped', 0o644, 1, 1],
      ],
      [
        ['l', '', folder],
        ['f', 'escaped', 0o644, 1, 1],
      ],
      [
        ['d', '', 0o755],
        ['f', 'a', 0o4755, 1, 1],
      ],
      [
        ['d', '', 0o755],
        ['f', 'a', 0o644, 1, 2],
      ],
      [
        ['d', '', 0o755],
        ['d', 'a', 0o755],
        ['f', 'a', 0o644, 1, 1],
      ],
    ]
    for (const entries of attacks) {
      const bytes = Buffer.from(
        JSON.stringify({ version: 1, roots: [{ path: 'deps', entries }], packs: pack }),
      )
      const name = { digest: digestOf(bytes), size: bytes.length }
      caches.blobs.set(name.digest, encodeBlob(bytes))
      if (caches.saved !== null) caches.saved = { ...caches.saved, manifest: { ...manifest, ...name } }
      const log = await run('ls -A', ['deps'])
      expect(log).toMatch(/# The job runs without a cache: the manifest has wrong/)
      expect([readdirSync(checkout), existsSync(join(folder, 'escaped'))]).toEqual([[], false])
    }
  })

  it('leaves nothing behind when a later pack cannot be read', async () => {
    const { run, caches, checkout, server } = await aCachingAgent()
    await run('mkdir deps; printf x > deps/a; head -c 9000000 /dev/zero > deps/b', ['deps'])
    const { manifest } = caches.saved ?? { manifest: null }
    // A pack that cannot be read after others were unpacked.
    const last = caches.saved?.blobs.at(-1)?.digest ?? ''
    server.answer(new RegExp(`^GET /v3/caches/${last}`), () => ({ status: 403, body: {} }))
    const log = await run('ls -A', ['deps'])
    expect(log).toMatch(/# The job runs without a cache: .*403/)
    expect([readdirSync(checkout), caches.damaged, manifest === null]).toEqual([[], [], false])
  })
})

describe('buildkite-agent cache save and restore', () => {
  it('bring files to later jobs by their key, or by how it begins, and never fail a job', async () => {
    const { run, caches, checkout } = await aCachingAgent()
    const missing = await run('buildkite-agent cache restore --key npm-1 deps && ls -A', [])
    expect(missing).toContain('There is no cache "npm-1".\nexit 0')
    const saved = await run(
      'mkdir deps; printf one > deps/a; buildkite-agent cache save --key npm-1 deps ~/more; exit 3',
      [],
    )
    expect(saved).toMatch(/\nSaved the cache "npm-1": 1 file, 3 B; \d+ B sent in [\d.]+ s\.\n/)
    expect(saved).toContain('exit 3\n')
    expect(caches.keyed.get('npm-1')?.paths).toEqual(['deps', expect.stringMatching(/\/home\/more$/)])
    const exact = await run('buildkite-agent cache restore --key npm-1 deps ~/more && cat deps/a', [])
    expect(exact).toMatch(
      /Restored the cache "npm-1" of branch main: 1 file, 3 B; \d+ B received in [\d.]+ s\.\none/,
    )
    const similar = await run(
      'buildkite-agent cache restore --key npm-2 --restore-key yarn- --restore-key npm- deps ~/more',
      [],
    )
    expect(similar).toContain('Restored the cache "npm-1" of branch main')
    expect(readFileSync(join(checkout, 'deps', 'a'), 'utf8')).toBe('one')
  })

  it('leave a key that is saved as it is, and say what cannot be saved or restored', async () => {
    const { run, caches } = await aCachingAgent()
    const save = 'mkdir -p deps; date +%N > deps/a; buildkite-agent cache save --key k deps'
    await run(save, [])
    const sent = caches.sent.length
    expect(await run(save, [])).toContain('The cache "k" of branch main is there already.\nexit 0')
    expect(caches.sent).toHaveLength(sent)
    for (const blob of caches.blobs.keys()) caches.blobs.set(blob, Buffer.from('spoiled'))
    expect(await run('buildkite-agent cache restore --key k deps', [])).toMatch(
      /The cache is not restored: .*\nexit 0/,
    )
    expect(caches.damaged).toHaveLength(1)
    caches.refusal = 'builds of forks never do'
    expect(await run('buildkite-agent cache save --key fork deps', [])).toContain(
      'The cache is not saved: builds of forks never do.\nexit 0',
    )
  })

  it('refuse a command line that names no key, no path, or only paths that cannot be cached', async () => {
    const { run } = await aCachingAgent()
    for (const [line, says] of [
      ['save deps', '--key'],
      ['restore --key k', 'The paths are missing.'],
      ['save --key k ../..', 'None of the paths can be cached.'],
    ] as const) {
      const log = await run(`buildkite-agent cache ${line}`, [])
      expect(log).toContain(says)
      expect(log).toContain('exit 1\n')
    }
  })
})
