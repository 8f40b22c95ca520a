// A page of 30 builds with 10 jobs each, at a thousand, a hundred thousand and a million builds, in all three list
// forms and with each filter; and the memory of the server while it lists builds of 4,000 jobs.
import pg from 'pg'
import type { Db } from '@millrace/server/db/pool.ts'
import type { Child } from './children.ts'
import { loadUrl } from './load.ts'
import { row, type Report } from './report.ts'
import { seedPipeline, type Seeded } from './seed.ts'

const sizes = [1000, 100_000, Number(process.env['MILLRACE_BENCH_BUILDS'] ?? 1_000_000)]
const most = 2
const mostMegabytes = 512

export interface Setting {
  db: Db
  databaseUrl: string
  seeded: Seeded
  server: Child
  address: string
}

export async function listPages({
  db,
  databaseUrl,
  seeded,
  server,
  address,
}: Setting): Promise<Omit<Report, 'name'>> {
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  const pipelineId = await seedPipeline(db, seeded, 'many-builds', 'steps: [{command: "true"}]')
  const p95 = new Map<string, number[]>()
  let have = 0
  for (const size of sizes) {
    await fill(databaseUrl, seeded, pipelineId, have, size)
    have = size
    for (const [name, path] of Object.entries(forms(seeded, size))) {
      const { p95: ms } = await loadUrl(address + path, seeded.token, 4, 2)
      p95.set(name, [...(p95.get(name) ?? []), ms])
    }
  }
  for (const [name, measured] of p95) {
    const ratio = (measured.at(-1) ?? 0) / Math.max(measured[0] ?? 1, 1)
    rows.push(
      row(
        `30 builds, ${name}`,
        measured.map((ms) => `${ms} ms`).join(' / '),
        `p95 at ${sizes.join(' / ')} builds`,
      ),
    )
    targets.push({
      what: `p95 of ${name}, ${sizes.at(-1)} : ${sizes[0]} builds`,
      target: `< ${most}`,
      measured: ratio.toFixed(2),
      met: ratio < most,
    })
  }
  const megabytes = await server.ask<number>('memory')
  rows.push(row('memory of the server after all lists', `${Math.round(megabytes)} MB`))
  targets.push({
    what: 'memory of the server',
    target: `< ${mostMegabytes} MB`,
    measured: `${Math.round(megabytes)} MB`,
    met: megabytes < mostMegabytes,
  })
  return { rows, targets }
}

function forms({ slug, userId }: Seeded, size: number): Record<string, string> {
  const org = `/v2/organizations/${slug}/builds`
  const pipeline = `/v2/organizations/${slug}/pipelines/many-builds/builds`
  const middle = Math.floor(size / 2)
  return {
    'all organizations': '/v2/builds',
    organization: org,
    pipeline,
    'pipeline, page 300': `${pipeline}?page=${Math.min(300, Math.floor(size / 30))}`,
    'by branch': `${pipeline}?branch=branch-${middle % 50}`,
    'by state': `${org}?state=failed`,
    'by two states': `${org}?state[]=failed&state[]=canceled`,
    'by commit': `${org}?commit=commit-${middle}`,
    'by creator': `${org}?creator=${userId}`,
    'by meta-data': `${org}?meta_data[parity]=odd`,
    'by creation time': `${org}?created_to=${new Date(epoch + middle * 1000).toISOString()}`,
    'by end time': `${org}?finished_from=${new Date(epoch + (size - 20) * 1000).toISOString()}`,
  }
}

const epoch = Date.UTC(2025, 0, 1)

/** Rows as finished builds leave them, written in bulk. */
async function fill(
  databaseUrl: string,
  { orgId, userId, clusterId }: Seeded,
  pipelineId: string,
  from: number,
  to: number,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('set synchronous_commit = off')
  const step = 50_000
  for (let start = from + 1; start <= to; start += step) {
    const end = Math.min(to, start + step - 1)
    await client.query(
      `with made as (
        insert into builds (id, organization_id, pipeline_id, number, state, message, commit, branch, source, creator_id,
          created_at, scheduled_at, started_at, finished_at)
        select gen_random_uuid(), $1, $2, n, (array['passed', 'passed', 'failed', 'canceled'])[n % 4 + 1], 'Build ' || n,
          'commit-' || n, 'branch-' || n % 50, 'api', $3, t, t, t, t + interval '60 s'
        from generate_series($4::int, $5::int) n, lateral (select to_timestamp($6::float8 + n) as t) times
        returning id, created_at, number
      ), tallied as (
        insert into build_tallies select id, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 10, 0, 0, true, false from made
      ), noted as (
        insert into build_meta_data select id, 'parity', case when number % 2 = 0 then 'even' else 'odd' end, $1, created_at from made
      ), stepped as (
        insert into build_steps (id, organization_id, build_id, kind, position, continue_on_failure, phase, missing, impossible, total,
          open, on_agent, broken, soft_failed, hard_failed, canceled, timed_out, not_run, promised, unmet, held, failed, cut, tolerated,
          uploads_open, uploads_held, uploads_failed, uploads_cut, definition)
        select gen_random_uuid(), $1, id, 'command', '0001', false, 'ready', 0, false, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{}'
        from made returning id, build_id
      )
      insert into jobs (id, organization_id, pipeline_id, build_id, step_id, kind, state, slot, position, policy, work, cluster_id,
        fail_fast, unblockable, soft_failed, cut_short, exit_status, promised_hard, retries_count, rule_uses, created_at, scheduled_at,
        runnable_at, started_at, finished_at)
      select gen_random_uuid(), $1, $2, m.id, s.id, 'script', 'passed', j, '0001.' || lpad(j::text, 5, '0'), '{}',
        '{"kind": "script", "label": "Test", "command": "make test", "agents": [], "env": {}}', $7, false, false, false, false, 0, false, 0, '{}',
        m.created_at, m.created_at, m.created_at, m.created_at, m.created_at + interval '30 s'
      from made m join stepped s on s.build_id = m.id, generate_series(0, 9) j`,
      [orgId, pipelineId, userId, start, end, epoch / 1000, clusterId],
    )
  }
  await client.query('update pipelines set last_build_number = $2 where id = $1', [pipelineId, to])
  await client.query('vacuum analyze')
  await client.end()
}
