// A page of 30 builds with 10 jobs each, at a thousand, a hundred thousand and a million builds, in all three list forms
// and with each filter, compared with the bare SQL. Each size has its own database and server. They alternate, so that a
// change of the machine's speed affects all of them.
import type { FastifyInstance } from 'fastify'
import { buildApp } from '@millrace/server/app.ts'
import { startBenchServer } from '../harness/bench-server.ts'
import { capture, type Statement } from '../harness/capture.ts'
import { startChild, type Child } from '../../../testbed/dist/children.js'
import { contextOn } from '../harness/context.ts'
import { branches, buildsOfCommit, fillBuilds, timeOfBuild } from '../harness/fill-builds.ts'
import { loadUrl, median, middle, type Measured } from '../harness/load.ts'
import type { Report } from '../harness/report.ts'
import { seedPipeline, type Seeded } from '../harness/seed.ts'

const sizes = [1000, 100_000, Number(process.env['MILLRACE_BENCH_BUILDS'] ?? 1_000_000)]
const mostGrowth = 2
const leastOfBare = 0.5
/** Checked only for growth: an empty page must not read every build. `api` measures the cost beside the SQL. */
const fitsNothing = 'a branch pattern that fits nothing'
const callers = 4
const rounds = 5
const seconds = 0.4

export async function listPages(): Promise<Omit<Report, 'name'>> {
  const places: Place[] = []
  for (const size of sizes) places.push(await openPlace(size))
  const names = Object.keys(places[0]?.paths ?? {})
  for (const name of names) for (const place of places) await measureOnce(place, name)
  const measured = new Map<string, Pair[][]>()
  for (const name of names) measured.set(name, await measureRounds(places, name))
  for (const place of places) await place.close()
  return report(measured)
}

/** A number of builds, and the server that lists them. */
interface Place {
  address: string
  token: string
  /** By list form. */
  paths: Record<string, string>
  sql: Child
  /** The statements of the server. */
  statementsOf(path: string): Promise<Statement[]>
  close(): Promise<void>
}

async function openPlace(size: number): Promise<Place> {
  const bench = await startBenchServer()
  const { address, database, databaseUrl, seeded } = bench
  const pipelineId = await seedPipeline(database.db, seeded, 'many-builds', 'steps: [{command: "true"}]')
  await fillBuilds(databaseUrl, seeded, pipelineId, { from: 0, to: size, jobs: 10 })
  const captured = capture(database.pool)
  const inside = await buildApp({ ...contextOn(database), db: captured.db }, database)
  const { child: sql } = await startChild(new URL('../children/sql.js', import.meta.url), {
    DATABASE_URL: databaseUrl,
  })
  return {
    address,
    token: seeded.token,
    paths: forms(seeded, size),
    sql,
    async statementsOf(path) {
      await ask(inside, path, seeded.token)
      captured.take()
      await ask(inside, path, seeded.token)
      return captured.take()
    },
    async close() {
      await sql.stop()
      await inside.close()
      await bench.stop()
    },
  }
}

interface Pair {
  ours: Measured
  bare: Measured
}

async function ask(app: FastifyInstance, path: string, token: string): Promise<void> {
  const { statusCode } = await app.inject({ url: path, headers: { authorization: `Bearer ${token}` } })
  if (statusCode !== 200) throw new Error(`${path} answers ${statusCode}.`)
}

/** One measurement per place and round. */
async function measureRounds(places: readonly Place[], name: string): Promise<Pair[][]> {
  const measured = places.map((): Pair[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, place] of places.entries()) measured[index]?.push(await measureOnce(place, name))
  return measured
}

async function measureOnce({ address, token, paths, sql, statementsOf }: Place, name: string): Promise<Pair> {
  const path = paths[name] ?? ''
  const statements = await statementsOf(path)
  return {
    ours: await loadUrl({ url: address + path, token, connections: callers, seconds }),
    bare: await sql.ask<Measured>({ statements, callers, seconds }),
  }
}

/** The median of the ratios within each round. */
function report(measured: ReadonlyMap<string, Pair[][]>): Omit<Report, 'name'> {
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  for (const [name, ofPlaces] of measured) {
    const pairs = ofPlaces.map((ofRounds): Pair => ({
      ours: median(ofRounds.map(({ ours }) => ours)),
      bare: median(ofRounds.map(({ bare }) => bare)),
    }))
    const [smallest = [], largest = []] = [ofPlaces[0], ofPlaces.at(-1)]
    const growth = middle(
      smallest.map(({ ours }, round) => (largest[round]?.ours.p95 ?? Infinity) / ours.p95),
    )
    const shares = ofPlaces.map((ofRounds) =>
      middle(ofRounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond)),
    )
    const share = Math.min(...shares)
    rows.push({
      what: `30 builds, ${name}`,
      measured: `p95 ${pairs.map(({ ours }) => ours.p95.toFixed(1)).join(' / ')} ms`,
      more: `${pairs.map(({ ours }) => Math.round(ours.perSecond)).join(' / ')} per s, bare SQL ${pairs
        .map(({ bare }) => Math.round(bare.perSecond))
        .join(' / ')}, at ${sizes.join(' / ')} builds`,
    })
    targets.push({
      what: `p95 of ${name}, ${sizes.at(-1)} : ${sizes[0]} builds`,
      target: `< ${mostGrowth}`,
      measured: growth.toFixed(2),
      met: growth < mostGrowth,
    })
    if (name.endsWith(fitsNothing)) continue
    targets.push({
      what: `${name}, of the bare SQL`,
      target: `≥ ${leastOfBare}`,
      measured: share.toFixed(2),
      met: share >= leastOfBare,
    })
  }
  return { rows, targets }
}

function forms({ slug, userId }: Seeded, size: number): Record<string, string> {
  const half = Math.floor(size / 2)
  const at = (n: number) => timeOfBuild(n).toISOString()
  const org = `/v2/organizations/${slug}/builds`
  const pipeline = `/v2/organizations/${slug}/pipelines/many-builds/builds`
  const filters = {
    branch: `branch=branch-${half % branches}`,
    'several branches': 'branch[]=branch-3&branch[]=branch-7',
    'a branch pattern': 'branch=branch-1*',
    [fitsNothing]: 'branch=release/*',
    state: 'state=failed',
    'several states': 'state[]=failed&state[]=canceled',
    'the state finished': 'state=finished',
    'the state running': 'state=running',
    commit: `commit=commit-${Math.floor(half / buildsOfCommit)}`,
    creator: `creator=${userId}`,
    'meta-data': 'meta_data[parity]=odd',
    created_from: `created_from=${at(half)}`,
    created_to: `created_to=${at(half)}`,
    finished_from: `finished_from=${at(half)}`,
    'finished_from with few': `finished_from=${at(size - 20)}`,
    'the end of the page limit': `page=${Math.min(300, Math.floor(size / 30))}`,
    'retried jobs': 'include_retried_jobs=true',
    'no jobs and no pipeline': 'exclude_jobs=true&exclude_pipeline=true',
  }
  return Object.fromEntries(
    Object.entries({ 'all organizations': '/v2/builds', organization: org, pipeline }).flatMap(
      ([form, path]) => [
        [form, path],
        ...Object.entries(filters).map(([name, query]) => [`${form}, ${name}`, `${path}?${query}`]),
      ],
    ),
  )
}
