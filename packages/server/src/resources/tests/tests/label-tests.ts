// Labels the tests of suites with new results as flaky, and takes the label off. It reads what is stored and may be repeated.
import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { eachRowApart, mayBeTried } from '../../../db/each-row.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { publishTests } from '../../../events/tests.ts'
import { countingRuns, findEvidence, type Execution, type FlakyRules } from './flakiness.ts'
import { quarantineByRule } from './quarantine.ts'

interface DueSuite {
  id: string
  organizationId: string
  defaultBranch: string | null
  rules: FlakyRules
  quarantineRule: 'muted' | 'skipped' | null
  quarantineDays: number
  checkedAt: string
}

export const flakyLabel = 'flaky'
const flakyColor = '#F8CA1C'

/** An upload that was committed late is seen in the next run. */
const overlapMs = 60_000

const suitesAtOnce = 1000

export async function labelTests(ctx: Context): Promise<void> {
  const now = ctx.now().toISOString()
  const { rows } = await sql<DueSuite>`
    select s.id, s.organization_id as "organizationId", s.default_branch as "defaultBranch",
      s.quarantine_rule as "quarantineRule", s.quarantine_days as "quarantineDays", s.labels_checked_at as "checkedAt",
      json_build_object('onSameCommit', s.flaky_on_same_commit, 'transitions', s.flaky_transitions,
        'window', s.flaky_window, 'clearDays', s.flaky_clear_days, 'clearExecutions', s.flaky_clear_executions) as rules
    from test_suites s
    where (exists (select from test_runs r where r.suite_id = s.id and r.updated_at >= s.labels_checked_at)
        or exists (select from test_labels l where l.suite_id = s.id and l.name = ${flakyLabel} and l.source = 'detected'
          and l.last_evidence_at <= ${now}::timestamptz - make_interval(days => s.flaky_clear_days)))
      and ${mayBeTried('test_labels', sql`s.id::text`, now)}
    order by s.labels_checked_at, s.id limit ${suitesAtOnce}`.execute(ctx.db)
  await eachRowApart(
    ctx,
    'test_labels',
    rows,
    ({ id }) => id,
    (suite) => labelSuite(ctx, suite),
  )
}

/** Of more tests that failed lately, the suite says nothing about one. */
const mostCandidates = 5000
const candidatesAtOnce = 100

async function labelSuite(ctx: Context, suite: DueSuite): Promise<void> {
  const now = ctx.now()
  const candidates = await listCandidates(ctx.db, suite)
  const [flaky, steady]: [Found[], string[]] = [[], []]
  for (let from = 0; from < candidates.length; from += candidatesAtOnce) {
    const some = candidates.slice(from, from + candidatesAtOnce)
    const executions = await listExecutions(ctx.db, suite, some)
    for (const id of some) {
      const evidence = findEvidence(executions.get(id) ?? [], suite.rules, now)
      if (evidence === null) steady.push(id)
      else flaky.push({ id, evidence })
    }
  }
  await inTransaction(ctx.db, async (trx) => {
    const labelled = await addLabels(trx, suite, flaky, now.toISOString())
    const { id: suiteId, organizationId } = suite
    await publishTests(trx, 'test.flaky', { organizationId, suiteId, ids: labelled }, null, now.toISOString())
    await sql`
      delete from test_labels where suite_id = ${suite.id} and name = ${flakyLabel} and source = 'detected'
        and test_id = any (${steady}::uuid[])`.execute(trx)
    if (suite.quarantineRule !== null && labelled.length > 0) {
      const state = suite.quarantineRule
      const endsAt = new Date(now.getTime() + suite.quarantineDays * 24 * 60 * 60 * 1000).toISOString()
      await quarantineByRule(trx, suite, labelled, { state, at: now.toISOString(), endsAt })
    }
    await sql`
      update test_suites set labels_checked_at = ${new Date(now.getTime() - overlapMs).toISOString()}
      where organization_id = ${suite.organizationId} and id = ${suite.id}`.execute(trx)
  })
}

interface Found {
  id: string
  evidence: string
}

/** The tests that have the label now. */
async function addLabels(trx: Trx, suite: DueSuite, found: readonly Found[], at: string): Promise<string[]> {
  const { rows } = await sql<{ id: string; is_new: boolean }>`
    insert into test_labels as l
      (organization_id, suite_id, test_id, name, color, source, set_at, last_evidence_at)
    select ${suite.organizationId}, ${suite.id}, f.id, ${flakyLabel}, ${flakyColor}, 'detected', ${at}, f.evidence
    from jsonb_to_recordset(${JSON.stringify(found)}::jsonb) as f (id uuid, evidence timestamptz)
      join tests t on t.suite_id = ${suite.id} and t.id = f.id
    order by f.id
    on conflict (suite_id, test_id, name) do update set last_evidence_at = excluded.last_evidence_at
      where l.last_evidence_at is distinct from excluded.last_evidence_at
    returning test_id as id, xmax = 0 as is_new`.execute(trx)
  return rows.filter(({ is_new: isNew }) => isNew).map(({ id }) => id)
}

const sum = sql`(r.passed_count + r.failed_count)`

/** For queries with `test_runs r`. A build of a fork is no evidence. */
const counts = sql<boolean>`
  not r.from_fork and (${sum} < ${sql.lit(countingRuns.fewestResults)}
    or r.failed_count <= ${sql.lit(countingRuns.mostFailures)} * ${sum})`

/**
 * The tests that have the label, and those that failed in the newest runs of the default branch or in a run of a commit that has
 * new results.
 */
async function listCandidates(db: Db, suite: DueSuite): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with fresh as (
      select distinct r.commit_sha from test_runs r
      where r.suite_id = ${suite.id} and r.updated_at >= ${suite.checkedAt} and not r.from_fork limit 500
    ), runs as (
      (select r.* from test_runs r where r.suite_id = ${suite.id} and r.branch = ${suite.defaultBranch}
        order by r.created_at desc, r.id desc limit ${suite.rules.window})
      union
      (select r.* from test_runs r join fresh f on f.commit_sha = r.commit_sha where r.suite_id = ${suite.id}
        order by r.created_at desc, r.id desc limit 500)
    )
    select l.test_id as id from test_labels l
    where l.organization_id = ${suite.organizationId} and l.suite_id = ${suite.id} and l.name = ${flakyLabel}
      and l.source = 'detected'
    union
    select t.test_id from runs r join test_results t on t.run_id = r.id and t.result = 'failed'
    where ${counts} and t.test_id is not null
    limit ${mostCandidates}`.execute(db)
  return rows.map(({ id }) => id)
}

/** More than must pass until a label comes off. */
const mostExecutions = 200

async function listExecutions(
  db: Db,
  suite: DueSuite,
  ids: readonly string[],
): Promise<Map<string, Execution[]>> {
  const { rows } = await sql<{ id: string; executions: Execution[] }>`
    select c.id, (
      select coalesce(json_agg(json_build_object('runId', e.run_id, 'commit', e.commit_sha, 'variant', e.variant,
        'isOnDefaultBranch', e.is_on_default, 'hasFailed', e.has_failed,
        'at', to_char(e.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))), '[]')
      from (
        select x.run_id, r.commit_sha, x.variant, coalesce(r.branch = ${suite.defaultBranch}, false) as is_on_default,
          x.result = 'failed' as has_failed, x.created_at
        from test_results x join test_runs r on r.id = x.run_id
        where x.test_id = c.id and x.result in ('passed', 'failed') and r.organization_id = ${suite.organizationId}
          and x.created_at > coalesce(t.evidence_after, '-infinity') and ${counts}
        order by x.created_at desc, x.run_id limit ${mostExecutions}
      ) e
    ) as executions
    from unnest(${ids}::uuid[]) as c (id) join tests t on t.suite_id = ${suite.id} and t.id = c.id`.execute(
    db,
  )
  return new Map(rows.map(({ id, executions }) => [id, executions]))
}
