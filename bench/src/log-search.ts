// Searches over many logs: 10,000 logs of 100 kB each, or as many as the number says. A tenth of the jobs failed.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { Sketch } from '@millrace/server/resources/builds/log/findings/sketch.ts'
import { logCompactor } from '@millrace/server/resources/builds/log/ingest/compact.ts'
import { makeBlocks } from '@millrace/server/resources/builds/log/rows/row-tasks.ts'
import { startBenchServer, type BenchServer } from './harness/bench-server.ts'
import { contextOn } from './harness/context.ts'
import { fillBuilds } from './harness/fill-builds.ts'
import { row, type Report } from './harness/report.ts'
import { seedOrganization, seedPipeline, type Seeded } from './harness/seed.ts'

const usualLogs = 10_000
const jobsOfBuild = 10
const logBytes = 100_000
const searches = 40
const aims = { failuresMs: 300, firstHitMs: 1000, ingestShare: 0.05 }

export async function benchLogSearch(logs = usualLogs): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-search-'))
  const bench = await startBenchServer({ MILLRACE_DATA_DIR: folder })
  try {
    await fill(bench, logs)
    const ctx = contextOn(bench.database, { MILLRACE_DATA_DIR: folder })
    const startedMs = performance.now()
    await logCompactor()({ ...ctx, db: bench.database.slow.db }, new AbortController().signal)
    const compactSeconds = (performance.now() - startedMs) / 1000
    await bench.database.pool.query('vacuum analyze')
    const { rows: sizeRows, share: sketchShare } = await sizes(bench)
    const failures = await timesOf(searches, (n) => ask(bench, { q: `E${n * 7} the ${wordAt(n * 31)}` }))
    const frequent = await timesOf(10, () => ask(bench, { q: 'error' }))
    const newest = await firstHit(bench, nameOf(logs - 1))
    const oldest = await firstHit(bench, nameOf(3))
    const digest = await firstHit(bench, digestOf(3, 5))
    const absentMs = await timesOf(3, () => ask(bench, { q: 'nowhere-to-be-found', in: 'logs' }))
    const plain = await timesOf(searches, () => readOrganization(bench, bench.seeded))
    const other = await seedOrganization(bench.database.db, 'other')
    const leaveSearches = await readEverything(bench)
    const beside = await timesOf(searches, () => readOrganization(bench, other))
    const searchBeside = await timesOf(searches, () => ask(bench, { q: 'not there' }, other))
    leaveSearches()
    const { share, failedShare, sketchMs } = ingestShares()
    const p95 = percentile(failures, 0.95)
    return {
      name: `log-search, ${logs} logs`,
      rows: [
        row('what failed jobs said', `p50 ${ms(percentile(failures, 0.5))}`, `p95 ${ms(p95)}`),
        row('the same, a frequent word', `p50 ${ms(percentile(frequent, 0.5))}`),
        row('whole logs, first hit in the newest build', ms(newest)),
        row('whole logs, first hit in the oldest build', ms(oldest)),
        row('whole logs, a digest that one of the oldest has', ms(digest)),
        row('whole logs, of which none has the text', ms(percentile(absentMs, 0.5))),
        row(
          'a request that searches nothing',
          `p50 ${ms(percentile(plain, 0.5))}`,
          `p95 ${ms(percentile(plain, 0.95))}`,
        ),
        row(
          'the same of another organization, beside four searches of all logs',
          `p50 ${ms(percentile(beside, 0.5))}`,
          `p95 ${ms(percentile(beside, 0.95))}`,
        ),
        row(
          'a search of that organization, beside them',
          `p50 ${ms(percentile(searchBeside, 0.5))}`,
          `p95 ${ms(percentile(searchBeside, 0.95))}`,
        ),
        ...sizeRows,
        row(
          'compaction of all logs',
          `${compactSeconds.toFixed(0)} s`,
          `${(logs / compactSeconds).toFixed(0)} logs/s`,
        ),
        row(
          'sketch, share of the CPU for the rows of a log',
          percent(share),
          `${sketchMs.toFixed(1)} ms a log`,
        ),
        row('telling rows of a failed job, the same', percent(failedShare)),
      ],
      targets: [
        target('what failed jobs said, p95', p95, aims.failuresMs),
        target('first hit in whole logs', Math.max(newest, oldest), aims.firstHitMs),
        {
          what: 'sketches, of the size of the logs',
          target: `≤ ${percent(aims.ingestShare)}`,
          measured: percent(sketchShare),
          met: sketchShare <= aims.ingestShare,
        },
      ],
    }
  } finally {
    await bench.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Syllables, because the trigrams of words are few, as in real texts. */
const syllables =
  'com pi le er ror link con nec tion re fused mod ule ser vice build test re port fet ch pac kage ver sion start stop wor ker que ue time out re try loc al host fi le dir ec tory can not find im port ex port type'.split(
    ' ',
  )

/** The words that the logs of a pipeline share. */
const wordCount = 3000

function wordAt(n: number): string {
  let rest = (n * 2_654_435_761) % 2 ** 32
  let word = ''
  for (let part = 0; part < 3; part++) {
    word += syllables[rest % syllables.length]
    rest = Math.floor(rest / syllables.length)
  }
  return word
}

const digestOf = (log: number, n: number) => createHash('sha256').update(`${log}/${n}`).digest('hex')

/** In one log only, as a name that somebody has made up. */
const nameOf = (log: number) => `Zx${wordAt(log * 7919 + 13)}Qy${(log * 7919 + 13).toString(36)}Kv`

const digestsOfLog = 20

function logText(log: number): string {
  const lines = [`checking out\n`]
  for (let n = 0; n < digestsOfLog; n++) lines.push(`pulled layer ${digestOf(log, n)}\n`)
  lines.push(`${nameOf(log)} was started\n`)
  let size = lines.join('').length
  for (let n = 0; size < logBytes; n++) {
    const words = Array.from({ length: 8 }, (_, at) => wordAt((log * 977 + n * 13 + at * at) % wordCount))
    const line = `[${n}] ${words.join(' ')}: compiled in ${(n * 37) % 991} ms\n`
    lines.push(line)
    size += line.length
  }
  lines.push(`Error: E${log % 1000} the ${wordAt(log % wordCount)} could not be linked\n`)
  return lines.join('')
}

async function fill({ database, databaseUrl, seeded }: BenchServer, logs: number): Promise<void> {
  const pipelineId = await seedPipeline(database.db, seeded, 'searched', 'steps: [{command: make}]')
  const builds = Math.ceil(logs / jobsOfBuild)
  await fillBuilds(databaseUrl, seeded, pipelineId, { from: 0, to: builds, jobs: jobsOfBuild })
  await sql`update builds set created_at = created_at + interval '59 days', finished_at = now()`.execute(
    database.db,
  )
  await sql`
    update jobs set finished_at = now() - interval '10 minutes',
      state = case when slot = 0 then 'failed' else state end, exit_status = case when slot = 0 then 1 else 0 end`.execute(
    database.db,
  )
  const { rows } = await sql<{ id: string }>`
    select j.id from jobs j join builds b on b.id = j.build_id order by b.number, j.slot limit ${logs}`.execute(
    database.db,
  )
  for (const [log, { id }] of rows.entries()) {
    const text = logText(log)
    await sql`
      insert into job_log_chunks (job_id, sequence, byte_offset, size, data)
      values (${id}, 1, 0, ${text.length}, ${gzipSync(text, { level: 1 })})`.execute(database.db)
  }
}

type Query = Record<string, string>

function url({ address, seeded }: BenchServer, path: string, query: Query): string {
  return `${address}/v2/organizations/${seeded.slug}/${path}?${new URLSearchParams(query)}`
}

const headers = ({ seeded }: Pick<BenchServer, 'seeded'>) => ({ authorization: `Bearer ${seeded.token}` })

async function ask(bench: BenchServer, query: Query, seeded = bench.seeded): Promise<void> {
  await read(url({ ...bench, seeded }, 'log-search', query), headers({ seeded }))
}

const readOrganization = ({ address }: BenchServer, seeded: Seeded): Promise<void> =>
  read(`${address}/v2/organizations/${seeded.slug}`, headers({ seeded }))

async function read(address: string, sent: Record<string, string>): Promise<void> {
  const response = await fetch(address, { headers: sent })
  if (!response.ok) throw new Error(await response.text())
  await response.bytes()
}

/** Searches that read every log, until they are left. A search is given up after two minutes. */
async function readEverything(bench: BenchServer): Promise<() => void> {
  const leaving = new AbortController()
  const query = { q: '[q-z]{40}', regex: 'true', in: 'logs' }
  for (let n = 0; n < 4; n++) {
    const response = await fetch(url(bench, 'log-search/stream', query), {
      headers: headers(bench),
      signal: leaving.signal,
    })
    response.arrayBuffer().catch(() => {})
  }
  return () => leaving.abort()
}

async function firstHit(bench: BenchServer, q: string): Promise<number> {
  const leaving = new AbortController()
  const startedMs = performance.now()
  const { body } = await fetch(url(bench, 'log-search/stream', { q, in: 'logs' }), {
    headers: headers(bench),
    signal: leaving.signal,
  })
  let text = ''
  for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += piece
    if (text.includes('event: hit')) break
  }
  const took = performance.now() - startedMs
  leaving.abort()
  if (!text.includes('event: hit')) throw new Error(`Nothing was found: ${text}`)
  return took
}

async function sizes({ database }: BenchServer): Promise<{ rows: Report['rows']; share: number }> {
  const { rows } = await sql<Record<'table' | 'index' | 'sketches' | 'logs' | 'findings', number>>`
    select pg_total_relation_size('log_findings')::float8 as "table",
      pg_relation_size('log_findings_text')::float8 as "index",
      (select count(*) from log_findings)::int as findings,
      (select sum(octet_length(sketch)) from job_logs)::float8 as sketches,
      (select sum(size) from job_logs)::float8 as logs`.execute(database.db)
  const [found] = rows
  if (found === undefined) throw new Error('There are no sizes.')
  const { table, index, sketches, logs, findings } = found
  return {
    share: sketches / logs,
    rows: [
      row(
        'index on what failed jobs said',
        mb(index),
        `with its table ${mb(table)}, ${findings} failed jobs`,
      ),
      row('sketches', mb(sketches), `of logs of ${mb(logs)}`),
    ],
  }
}

/** What the search adds to the work on the rows of a log when it is stored. */
function ingestShares(): { share: number; failedShare: number; sketchMs: number } {
  const rounds = 30
  const text = logText(1)
  const segment = { state: null, bytes: Buffer.from(text), isLast: true, isFinal: true }
  const lines = text.split('\n')
  const time = (work: () => unknown): number => {
    work()
    const before = process.cpuUsage()
    for (let round = 0; round < rounds; round++) work()
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const whole = time(() => makeBlocks({ segment, telling: null }))
  const failed = time(() => makeBlocks({ segment, telling: { isOpen: false } }))
  const sketch = time(() => {
    const made = new Sketch()
    for (const line of lines) made.add(line)
    return made.smallest
  })
  const rest = whole - sketch
  return { share: sketch / rest, failedShare: (failed - whole) / rest, sketchMs: sketch / rounds / 1000 }
}

async function timesOf(count: number, work: (n: number) => Promise<void>): Promise<number[]> {
  await work(count)
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now()
    await work(n)
    times.push(performance.now() - startedMs)
  }
  return times
}

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? NaN

const ms = (time: number) => `${time.toFixed(0)} ms`
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
const percent = (share: number) => `${(share * 100).toFixed(1)} %`

const target = (what: string, measured: number, most: number): Report['targets'][number] => ({
  what,
  target: `≤ ${most} ms`,
  measured: ms(measured),
  met: measured <= most,
})
