// A page of 30 builds with 10 jobs each, at a thousand, a hundred thousand and a million builds, in all three list
// forms and with each filter, beside the bare SQL of each.
import type { FastifyInstance } from 'fastify'
import { slices } from '@millrace/server/app.ts'
import type { Context } from '@millrace/server/context.ts'
import type { Database } from '@millrace/server/db/pool.ts'
import { buildServer } from '@millrace/server/http/server.ts'
import { capture, type Statement } from './capture.ts'
import { startChild, type Child } from './children.ts'
import { fillBuilds, timeOfBuild } from './fill-builds.ts'
import { loadUrl, median, type Measured } from './load.ts'
import type { Report } from './report.ts'
import { seedPipeline, type Seeded } from './seed.ts'

const sizes = [1000, 100_000, Number(process.env['MILLRACE_BENCH_BUILDS'] ?? 1_000_000)]
const mostGrowth = 2
const leastOfBare = 0.5
const callers = 4
const rounds = 3
const seconds = 0.2

export interface Setting {
  ctx: Context
  database: Database
  databaseUrl: string
  seeded: Seeded
  address: string
}

export async function listPages(setting: Setting): Promise<Omit<Report, 'name'>> {
  const { ctx, database, databaseUrl, seeded, address } = setting
  const pipelineId = await seedPipeline(database.db, seeded, 'many-builds', 'steps: [{command: "true"}]')
  const captured = capture(database.pool)
  const inside = await buildServer({ ...ctx, db: captured.db }, database.pool, slices)
  const statementsOf = async (path: string) => {
    await ask(inside, path, seeded.token)
    captured.take()
    await ask(inside, path, seeded.token)
    return captured.take()
  }
  const { child: sqlChild } = await startChild('./child-sql.js', { DATABASE_URL: databaseUrl })
  const measured = new Map<string, Pair[]>()
  let have = 0
  for (const size of sizes) {
    await fillBuilds(databaseUrl, seeded, pipelineId, { from: have, to: size, jobs: 10 })
    have = size
    await warmUp(address, Object.values(forms(seeded, size)), seeded.token)
    for (const [name, path] of Object.entries(forms(seeded, size))) {
      const statements = await statementsOf(path)
      const pair = await measurePair(sqlChild, statements, address + path, seeded.token)
      measured.set(name, [...(measured.get(name) ?? []), pair])
    }
  }
  await sqlChild.stop()
  await inside.close()
  return report(measured)
}

/** The compiler gets its work done before anything is measured. */
async function warmUp(address: string, paths: readonly string[], token: string): Promise<void> {
  for (const path of paths) await loadUrl({ url: address + path, token, connections: callers, seconds })
}

interface Pair {
  ours: Measured
  bare: Measured
}

async function ask(app: FastifyInstance, path: string, token: string): Promise<void> {
  const { statusCode } = await app.inject({ url: path, headers: { authorization: `Bearer ${token}` } })
  if (statusCode !== 200) throw new Error(`${path} answers ${statusCode}.`)
}

/** The two take turns, so that whatever else the machine does disturbs them alike. */
async function measurePair(
  sqlChild: Child,
  statements: readonly Statement[],
  url: string,
  token: string,
): Promise<Pair> {
  const [ours, bare]: [Measured[], Measured[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    ours.push(await loadUrl({ url, token, connections: callers, seconds }))
    bare.push(await sqlChild.ask<Measured>({ statements, callers, seconds }))
  }
  return { ours: median(ours), bare: median(bare) }
}

function report(measured: ReadonlyMap<string, Pair[]>): Omit<Report, 'name'> {
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  for (const [name, pairs] of measured) {
    const p95 = pairs.map(({ ours }) => ours.p95)
    const growth = (p95.at(-1) ?? Infinity) / (p95[0] ?? 0)
    const share = Math.min(...pairs.map(({ ours, bare }) => ours.perSecond / bare.perSecond))
    rows.push({
      what: `30 builds, ${name}`,
      measured: `p95 ${p95.map((ms) => ms.toFixed(1)).join(' / ')} ms`,
      more: `${pairs.map(({ ours }) => Math.round(ours.perSecond)).join(' / ')} per s, bare SQL ${pairs
        .map(({ bare }) => Math.round(bare.perSecond))
        .join(' / ')}, at ${sizes.join(' / ')} builds`,
    })
    targets.push(
      {
        what: `p95 of ${name}, ${sizes.at(-1)} : ${sizes[0]} builds`,
        target: `< ${mostGrowth}`,
        measured: growth.toFixed(2),
        met: growth < mostGrowth,
      },
      {
        what: `${name}, of the bare SQL`,
        target: `≥ ${leastOfBare}`,
        measured: share.toFixed(2),
        met: share >= leastOfBare,
      },
    )
  }
  return { rows, targets }
}

function forms({ slug, userId }: Seeded, size: number): Record<string, string> {
  const middle = Math.floor(size / 2)
  const at = (n: number) => timeOfBuild(n).toISOString()
  const org = `/v2/organizations/${slug}/builds`
  const pipeline = `/v2/organizations/${slug}/pipelines/many-builds/builds`
  const filters = {
    branch: `branch=branch-${middle % 50}`,
    'several branches': 'branch[]=branch-3&branch[]=branch-7',
    'a branch pattern': 'branch=branch-1*',
    'a branch pattern that fits nothing': 'branch=release/*',
    state: 'state=failed',
    'several states': 'state[]=failed&state[]=canceled',
    'the state finished': 'state=finished',
    'the state running': 'state=running',
    commit: `commit=commit-${middle}`,
    creator: `creator=${userId}`,
    'meta-data': 'meta_data[parity]=odd',
    created_from: `created_from=${at(middle)}`,
    created_to: `created_to=${at(middle)}`,
    finished_from: `finished_from=${at(middle)}`,
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
