// Saves and restores the cache of a step: the agent's own code against a server in another process, and `tar` with `gzip` on the
// same files in the same run. The files are those of node_modules, and one large file made of them.
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { restoreCache } from '@millrace/agent/api/caches.ts'
import { restore } from '@millrace/agent/cache/restore.ts'
import { platform } from '@millrace/agent/cache/platform.ts'
import { save } from '@millrace/agent/cache/save.ts'
import { systemClock } from '@millrace/agent/clock.ts'
import { openSession } from '@millrace/agent/http/session.ts'
import { callAgentApi, connectAgent } from './harness/agent-http.ts'
import { startBenchServer, type BenchServer } from './harness/bench-server.ts'
import { row, type Report } from './harness/report.ts'
import { seedPipeline } from './harness/seed.ts'

const fileCount = 10_000
const defaultMegabytes = 500
const rounds = 2

export async function benchCache(megabytes = defaultMegabytes): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-cache-'))
  const bench = await startBenchServer({ MILLRACE_DATA_DIR: join(folder, 'data') })
  try {
    const source = join(folder, 'deps')
    const bytes = fill(source, megabytes * 1e6)
    return await compare(bench, folder, source, bytes)
  } finally {
    await bench.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(bench: BenchServer, folder: string, source: string, bytes: number): Promise<Report> {
  const { api, jobId } = await startJob(bench)
  const archive = join(folder, 'deps.tar.gz')
  const times: Record<'tarSave' | 'save' | 'tarRestore' | 'restore' | 'again' | 'changed', number[]> = {
    tarSave: [],
    save: [],
    tarRestore: [],
    restore: [],
    again: [],
    changed: [],
  }
  let [stored, sent] = [0, 0]
  const locations = (location: string) => [{ path: 'deps', location }]
  for (let round = 0; round < rounds; round += 1) {
    await bench.database.pool.query('delete from step_caches')
    await bench.database.pool.query('delete from step_cache_blobs')
    times.tarSave.push(await timed(async () => tar(['-czf', archive, '-C', folder, 'deps'])))
    times.save.push(
      await timed(async () => {
        const saved = await save(api, {
          jobId,
          key: null,
          locations: locations(source),
          mostBytes: 1e12,
          restored: null,
        })
        if (saved.kind === 'saved') stored = saved.storedBytes
      }),
    )
    const [plain, own] = [join(folder, `tar-${round}`), join(folder, `own-${round}`)]
    mkdirSync(plain)
    times.tarRestore.push(await timed(async () => tar(['-xzf', archive, '-C', plain])))
    const { cache } = await restoreCache(api, jobId, { platform })
    if (cache === null) throw new Error('The cache was not saved.')
    const startMs = performance.now()
    const restored = await restore(api, cache, locations(own))
    times.restore.push(performance.now() - startMs)
    times.again.push(
      await timed(async () => {
        const saved = await save(api, {
          jobId,
          key: null,
          locations: locations(own),
          mostBytes: 1e12,
          restored,
        })
        if (saved.kind !== 'unchanged') throw new Error(`The restored cache is ${saved.kind}.`)
      }),
    )
    if (round === 0) execFileSync('diff', ['-rq', source, own], { stdio: 'inherit' })
    changeThreeFiles(own)
    times.changed.push(
      await timed(async () => {
        const saved = await save(api, {
          jobId,
          key: null,
          locations: locations(own),
          mostBytes: 1e12,
          restored,
        })
        if (saved.kind !== 'saved') throw new Error(`The changed cache is ${saved.kind}.`)
        sent = saved.sentBytes
      }),
    )
    for (const location of [plain, own]) rmSync(location, { recursive: true })
  }
  const best = (name: keyof typeof times) => Math.min(...times[name]) / 1000
  const size = (count: number) => `${Math.round(count / 1e6)} MB`
  const ratio = (yardstick: number, measured: number) =>
    `${(yardstick / measured).toFixed(1)}× as fast as tar and gzip`
  const rows = [
    row(
      'files',
      String(fileCount + 1),
      `${size(bytes)}; stored ${size(stored)}, tar and gzip ${size(statSync(archive).size)}`,
    ),
    row('save, tar and gzip', `${best('tarSave').toFixed(2)} s`, `best of ${rounds}, to a local file`),
    row('save, nothing known', `${best('save').toFixed(2)} s`, ratio(best('tarSave'), best('save'))),
    row('save, nothing changed', `${best('again').toFixed(2)} s`, ratio(best('tarSave'), best('again'))),
    row('save, three files changed', `${best('changed').toFixed(2)} s`, `${size(sent)} sent`),
    row(
      'restore, tar and gzip',
      `${best('tarRestore').toFixed(2)} s`,
      `best of ${rounds}, from a local file`,
    ),
    row('restore', `${best('restore').toFixed(2)} s`, ratio(best('tarRestore'), best('restore'))),
  ]
  const againstTar = (['save', 'restore'] as const).map((what) => {
    const yardstick = best(what === 'save' ? 'tarSave' : 'tarRestore')
    return {
      what: `${what} against tar and gzip`,
      target: '≤ 1.5× the time',
      measured: `${(best(what) / yardstick).toFixed(2)}×`,
      met: best(what) <= 1.5 * yardstick,
    }
  })
  const onlyChanges = {
    what: 'sent after a change of three files',
    target: '≤ 0.5× of what is stored',
    measured: `${(sent / stored).toFixed(2)}×`,
    met: sent <= 0.5 * stored,
  }
  return { name: 'cache', rows, targets: [...againstTar, onlyChanges] }
}

const tar = (args: string[]) => void execFileSync('tar', args, { stdio: 'inherit' })

async function timed(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

async function startJob(bench: BenchServer) {
  const { database, seeded, address, agentToken } = bench
  await seedPipeline(database.db, seeded, 'cache', 'steps: [{command: make, cache: deps}]')
  const session = await connectAgent(address, agentToken)
  const response = await fetch(`${address}/v2/organizations/${seeded.slug}/pipelines/cache/builds`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${seeded.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ commit: 'HEAD', branch: 'main' }),
  })
  const build = (await response.json()) as { jobs: Array<{ id: string }> }
  const jobId = build.jobs[0]?.id ?? ''
  const { token } = await callAgentApi<{ token: string }>(
    address,
    session.token,
    'PUT',
    `jobs/${jobId}/acquire`,
  )
  await callAgentApi(address, token, 'PUT', `jobs/${jobId}/start`, { json: {} })
  return { api: { session: openSession(`${address}/v3`, token), clock: systemClock }, jobId }
}

/** One is longer, one is new, one is gone. */
function changeThreeFiles(folder: string): void {
  const [first, second] = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== 'large',
  )
  if (first === undefined || second === undefined) throw new Error('There are no files.')
  appendFileSync(join(first.parentPath, first.name), 'x')
  appendFileSync(join(first.parentPath, 'new'), 'new')
  rmSync(join(second.parentPath, second.name))
}

/** Copies files of node_modules, and makes one large file up to the wanted size. Returns the size. */
function fill(target: string, wantedBytes: number): number {
  const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
  mkdirSync(target, { recursive: true })
  let bytes = 0
  const copied: string[] = []
  const copy = (from: string, to: string) => {
    mkdirSync(to, { recursive: true })
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      if (copied.length >= fileCount) return
      const path = join(from, entry.name)
      if (entry.isDirectory()) copy(path, join(to, entry.name))
      if (!entry.isFile() || statSync(path).size > 1e6) continue
      copyFileSync(path, join(to, entry.name))
      copied.push(path)
      bytes += statSync(path).size
    }
  }
  for (let turn = 0; copied.length < fileCount; turn += 1) copy(modules, join(target, `copy-${turn}`))
  for (let index = 0; bytes < wantedBytes; index += 1) {
    const more = readFileSync(copied[(index * 7919) % copied.length] ?? '')
    appendFileSync(join(target, 'large'), more)
    bytes += more.length
  }
  return bytes
}
