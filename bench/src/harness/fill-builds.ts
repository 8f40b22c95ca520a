// Inserts many finished builds in bulk, with the rows of real builds. Without triggers and foreign key checks, and with
// indexes created afterwards, this takes a tenth of the time.
import pg from 'pg'
import type { Seeded } from './seed.ts'

/** Sixty days ago: by default retention leaves such builds alone. */
const epoch = Date.now() - 60 * 24 * 60 * 60 * 1000

/** One build a second. */
export const timeOfBuild = (number: number): Date => new Date(epoch + number * 1000)

interface Amount {
  /** The number of builds. */
  from: number
  to: number
  /** In each build. */
  jobs: number
}

/** Each branch and each commit has more than a page even of a thousand builds. */
export const branches = 25
export const buildsOfCommit = 40
/** The number of running builds among the others. */
const running = 40

const tables = ['builds', 'build_tallies', 'build_meta_data', 'build_steps', 'jobs']

/** Indexes that are not part of a constraint. */
const indexesOf = `
  select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
  from pg_index i
  where i.indrelid = any ($1::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`

export async function fillBuilds(
  databaseUrl: string,
  { orgId, userId, clusterId }: Seeded,
  pipelineId: string,
  { from, to, jobs }: Amount,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    "set synchronous_commit = off; set session_replication_role = replica; set maintenance_work_mem = '1GB'",
  )
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(indexesOf, [tables])
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  const step = Math.max(1, Math.floor(500_000 / jobs))
  for (let start = from + 1; start <= to; start += step) {
    const end = Math.min(to, start + step - 1)
    await client.query(
      `with made as (
        insert into builds (id, organization_id, pipeline_id, number, state, shown_state, message, commit, branch, source, creator_id,
          created_at, scheduled_at, started_at, finished_at)
        select gen_random_uuid(), $1, $2, n, state, state,
          'Build ' || n, 'commit-' || n / $11, 'branch-' || n % $9, 'api', $3, t, t, t, case when not runs then t + interval '60 s' end
        from generate_series($4::int, $5::int) n,
          lateral (select to_timestamp($6::float8 + n) as t, n % $10 = 0 as runs) about,
          lateral (select case when runs then 'running' else (array['passed', 'passed', 'failed', 'canceled'])[n % 4 + 1] end as state) so
        returning id, created_at, number
      ), tallied as (
        insert into build_tallies select id, 0, 0, 0, 0, 0, 0, $8, 0, 0, 0, 0, $8, 0, 0, true, false from made
      ), noted as (
        insert into build_meta_data select id, 'parity', case when number % 2 = 0 then 'even' else 'odd' end, $1, created_at from made
      ), stepped as (
        insert into build_steps (id, organization_id, build_id, kind, position, continue_on_failure, phase, missing, impossible, total,
          open, on_agent, broken, soft_failed, hard_failed, canceled, timed_out, not_run, promised, unmet, held, failed, cut, tolerated,
          uploads_open, uploads_held, uploads_failed, uploads_cut, definition)
        select gen_random_uuid(), $1, id, 'command', '0001', false, 'ready', 0, false, $8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{}'
        from made returning id, build_id
      )
      insert into jobs (id, organization_id, pipeline_id, build_id, step_id, kind, state, slot, position, policy, work, cluster_id,
        fail_fast, unblockable, soft_failed, cut_short, exit_status, promised_hard, retries_count, rule_uses, created_at, scheduled_at,
        runnable_at, started_at, finished_at)
      select gen_random_uuid(), $1, $2, m.id, s.id, 'script', 'passed', j, '0001.' || lpad(j::text, 5, '0'), '{}',
        '{"kind": "script", "label": "Test", "command": "make test", "agents": [], "env": {}}', $7, false, false, false, false, 0, false, 0, '{}',
        m.created_at, m.created_at, m.created_at, m.created_at, m.created_at + interval '30 s'
      from made m join stepped s on s.build_id = m.id, generate_series(0, $8::int - 1) j`,
      [
        orgId,
        pipelineId,
        userId,
        start,
        end,
        epoch / 1000,
        clusterId,
        jobs,
        branches,
        Math.ceil(to / running),
        buildsOfCommit,
      ],
    )
  }
  for (const { definition } of indexes) await client.query(definition)
  await client.query('update pipelines set last_build_number = $2 where id = $1', [pipelineId, to])
  await client.query('vacuum analyze')
  await client.end()
}
