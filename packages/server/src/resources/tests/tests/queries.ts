// A test is the scope and name that results of a suite share, and its id is a hash of these (test_runs/add-results.ts).
import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import { isVisibleDay, isVisibleRun, isVisibleTest } from '../suites/visible-results.ts'
import { testIdOf } from '../test_runs/queries.ts'

export interface Counts {
  passed_count: number
  failed_count: number
  skipped_count: number
  unknown_count: number
}

export interface Identity {
  id: string
  scope: string
  name: string
  location: string | null
}

export type TestState = 'enabled' | 'muted' | 'skipped'

interface Figures extends Counts {
  /** Null: no result had a duration. */
  duration_avg: number | null
  duration_sum: number | null
  duration_min: number | null
  duration_max: number | null
  /** The last day on which it failed. */
  last_failed_on: string | null
}

interface Named {
  id: string
  name: string
}

export interface TestRow extends Identity, Figures {
  suite_slug: string
  file_name: string | null
  owner: string | null
  state: TestState
  labels: string[]
  first_seen_at: string
  last_seen_at: string
  quarantined_at: string | null
  quarantined_by: Named | null
  quarantine_owner: Named | null
  quarantine_reason: string | null
  quarantine_expires_at: string | null
  duration_p50: number | null
  duration_p95: number | null
}

/** Whole days in UTC, both included. */
export interface Days {
  first: string
  last: string
}

const figures = sql`
  sum(d.passed_count)::integer as passed_count, sum(d.failed_count)::integer as failed_count,
  sum(d.skipped_count)::integer as skipped_count, sum(d.unknown_count)::integer as unknown_count,
  sum(d.duration_sum) / nullif(sum(d.timed_count), 0) as duration_avg,
  case when sum(d.timed_count) > 0 then sum(d.duration_sum) end as duration_sum,
  min(d.duration_min) as duration_min, max(d.duration_max) as duration_max,
  max(d.day) filter (where d.failed_count > 0) as last_failed_on`

const named = (id: string) => sql`
  (select json_build_object('id', u.id, 'name', u.name) from users u where u.id = ${sql.ref(id)})`

/** For a query with `shown t`: tests with their figures. */
const columns = (org: Organization, caller: Caller, { first, last }: Days) => sql`
  t.id, (select s.slug from test_suites s where s.id = t.suite_id) as suite_slug,
  t.scope, t.name, t.location, t.file_name, t.owner, t.state, t.first_seen_at, t.last_seen_at,
  array(select l.name from test_labels l where l.suite_id = t.suite_id and l.test_id = t.id order by l.name) as labels,
  t.quarantined_at, ${named('t.quarantined_by')} as quarantined_by,
  ${named('t.quarantine_owner_id')} as quarantine_owner, t.quarantine_reason, t.quarantine_expires_at,
  coalesce(t.passed_count, 0) as passed_count, coalesce(t.failed_count, 0) as failed_count,
  coalesce(t.skipped_count, 0) as skipped_count, coalesce(t.unknown_count, 0) as unknown_count,
  t.duration_avg, t.duration_sum, t.duration_min, t.duration_max, t.last_failed_on,
  percentiles.shares[1] as duration_p50, percentiles.shares[2] as duration_p95
  from shown t
  cross join lateral (
    select percentile_cont(array[0.5, 0.95]::double precision[]) within group (order by seconds::double precision) as shares
    from test_days d, unnest(d.durations) seconds
    where d.suite_id = t.suite_id and d.test_id = t.id and d.day between ${first} and ${last} and ${isVisibleDay(org, caller)}
  ) percentiles`

export interface TestFilter {
  state: TestState | null
  withLabels: readonly string[]
  withoutLabels: readonly string[]
  /** Null: any or none. */
  owners: readonly string[] | null
  /** A part of scope, name or location. */
  search: string | null
  /** `some`: at least once in the period; `all`: always. */
  result: { ended: 'passed' | 'failed'; how: 'some' | 'all' } | null
  /** One of its newest executions has all of these. */
  tags: Readonly<Record<string, string>>
}

export interface TestOrder {
  by:
    | 'duration_avg'
    | 'duration_sum'
    | 'duration_min'
    | 'duration_max'
    | 'reliability'
    | 'last_failed'
    | 'first_seen'
  direction: 'asc' | 'desc'
}

/** `rows` is the alias of those with the figures, and for `first_seen` there is a table `t`. */
export function orderIn(rows: 'f' | 'ran', by: TestOrder['by']): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${rows}.${name}`)
  switch (by) {
    case 'reliability':
      return sql`${column('passed_count')}::double precision / nullif(${column('passed_count')} + ${column('failed_count')}, 0)`
    case 'last_failed':
      return column('last_failed_on')
    case 'first_seen':
      return sql`t.first_seen_at`
    case 'duration_avg':
    case 'duration_sum':
    case 'duration_min':
    case 'duration_max':
      return column(by)
  }
}

export const directions = { asc: sql`asc`, desc: sql`desc` } as const

const escaped = (text: string) => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** For queries with `tests t`. */
const hasText = (search: string) =>
  sql`(t.scope || ' ' || t.name ilike ${escaped(search)} or t.location ilike ${escaped(search)})`

/** What the test's row and its labels say. Null: nothing is asked of them. */
function choiceOfRows(filter: TestFilter): RawBuilder<unknown> | null {
  const { state, search, withLabels, withoutLabels, owners } = filter
  const conditions = [
    ...(withLabels.length + withoutLabels.length > 0 || owners !== null ? [choiceOf(filter, 't')] : []),
    ...(state === null ? [] : [sql`t.state = ${state}`]),
    ...(search === null ? [] : [hasText(search)]),
  ]
  return conditions.length === 0 ? null : sql.join(conditions, sql` and `)
}

/** By labels and owners. `test` is the alias of the table. */
export function choiceOf(
  { withLabels, withoutLabels, owners }: Pick<TestFilter, 'withLabels' | 'withoutLabels' | 'owners'>,
  test: 't' | 'known',
): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${test}.${name}`)
  const hasLabel = (name: string) => sql`exists (
    select from test_labels l where l.suite_id = ${column('suite_id')} and l.test_id = ${column('id')} and l.name = ${name})`
  const conditions = [
    ...withLabels.map(hasLabel),
    ...withoutLabels.map((name) => sql`not ${hasLabel(name)}`),
    ...(owners === null ? [] : [sql`string_to_array(${column('owner')}, ' ') && ${owners}::text[]`]),
  ]
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
}

function resultCondition({ ended, how }: NonNullable<TestFilter['result']>): RawBuilder<unknown> {
  const count = sql.ref(`f.${ended}_count`)
  if (how === 'some') return sql`${count} > 0`
  return sql`${count} > 0 and ${count} = f.passed_count + f.failed_count + f.skipped_count + f.unknown_count`
}

/** Results are not added up by tag, so only these executions are looked at, of so many tests: the first ones in the order asked for. */
const newestTagged = 10
const mostTagged = 5000

/** For queries with `tests t`. */
const hasTags = (org: Organization, caller: Caller, tags: TestFilter['tags']) => sql`exists (
  select from (
    select x.id, x.run_id, x.tags from test_results x where x.test_id = t.id
    order by x.created_at desc, x.run_id desc limit ${newestTagged}
  ) n
  join test_runs r on r.id = n.run_id left join builds b on b.id = r.build_id
  left join execution_tags e on e.suite_id = r.suite_id and e.execution_id = n.id
  where coalesce(n.tags, '{}') || coalesce(e.tags, '{}') @> ${JSON.stringify(tags)}::jsonb and ${isVisibleRun(org, caller)})`

/**
 * The tests that ran in these days in what the caller may see. Only those that the filter leaves are added up.
 * An `offset` ends what PostgreSQL plans together: it looks up the tests that were found, and reads the tags of no others.
 */
export async function listOfSuite(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  days: Days,
  { filter, order }: { filter: TestFilter; order: TestOrder },
  page: { limit: number; offset: number },
): Promise<TestRow[]> {
  const ownTests = sql`t.organization_id = ${org.id} and t.suite_id = ${suiteId}`
  const chosen = choiceOfRows(filter)
  const inDays = sql`d.day between ${days.first} and ${days.last} and ${isVisibleDay(org, caller)}`
  const isTagged = Object.keys(filter.tags).length > 0
  const sorted = sql`${orderIn('f', order.by)} ${directions[order.direction]} nulls last, f.test_id`
  const onPage = sql`limit ${page.limit} offset ${page.offset}`
  const { rows } = await sql<TestRow>`
    with figures as (
      ${
        chosen === null
          ? sql`
            select d.test_id, ${figures} from test_days d
            where d.suite_id = ${suiteId} and ${inDays} group by d.test_id`
          : sql`
            select * from (select t.id as test_id from tests t where ${ownTests} and ${chosen} offset 0) t cross join lateral (
              select ${figures} from test_days d
              where d.suite_id = ${suiteId} and d.test_id = t.test_id and ${inDays} having count(*) > 0
            ) f`
      }
    ), ordered as (
      select f.* from figures f ${order.by === 'first_seen' ? sql`join tests t on ${ownTests} and t.id = f.test_id` : sql``}
      where ${filter.result === null ? sql`true` : resultCondition(filter.result)}
      order by ${sorted} ${isTagged ? sql`limit ${mostTagged}` : onPage}
    ), shown as (
      select t.*, f.*, row_number() over (order by ${sorted}) as place
      from ordered f cross join lateral (select t.* from tests t where ${ownTests} and t.id = f.test_id offset 0) t
      where ${isTagged ? hasTags(org, caller, filter.tags) : sql`true`}
      order by place ${isTagged ? onPage : sql``}
    )
    select ${columns(org, caller, days)} order by t.place`.execute(db)
  return rows
}

/** Tests in quarantine, also those that did not run lately. */
export async function listQuarantined(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  state: 'muted' | 'skipped',
  days: Days,
  page: { limit: number; offset: number },
): Promise<TestRow[]> {
  // The index has only tests that are not enabled.
  return select(db, org, caller, suiteId, sql`t.state <> 'enabled' and t.state = ${state}`, days, page)
}

export interface FlakyRow extends Identity {
  suite_slug: string
  file_name: string | null
  instances: number
  evidence_at: string | null
  resolved_at: string | null
}

export async function listFlaky(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  { first, last }: Days,
  search: string | null,
  page: { limit: number; offset: number },
): Promise<FlakyRow[]> {
  const { rows } = await sql<FlakyRow>`
    select t.id, s.slug as suite_slug, t.scope, t.name, t.location, t.file_name, (
        select coalesce(sum(d.failed_count), 0)::integer from test_days d
        where d.suite_id = t.suite_id and d.test_id = t.id and d.day between ${first} and ${last} and ${isVisibleDay(org, caller)}
      ) as instances, l.last_evidence_at as evidence_at, t.evidence_after as resolved_at
    from test_labels l join tests t on t.suite_id = l.suite_id and t.id = l.test_id join test_suites s on s.id = t.suite_id
    where l.organization_id = ${org.id} and l.suite_id = ${suiteId} and l.name = 'flaky' and ${isVisibleTest(org, caller)}
      and ${search === null ? sql`true` : hasText(search)}
    order by l.last_evidence_at desc nulls last, t.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

const one = { limit: 1, offset: 0 }

export async function findById(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  id: string,
  days: Days,
): Promise<TestRow | undefined> {
  const [test] = await select(db, org, caller, suiteId, sql`t.id = ${id}`, days, one)
  return test
}

export async function findByName(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  { scope, name }: { scope: string; name: string },
  days: Days,
): Promise<TestRow | undefined> {
  const id = testIdOf(suiteId, 'given')
  const isIt = sql`t.id = (select ${id} from (select ${scope}::text as scope, ${name}::text as name) given)
    and t.scope = ${scope} and t.name = ${name}`
  const [test] = await select(db, org, caller, suiteId, isIt, days, one)
  return test
}

async function select(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  condition: RawBuilder<unknown>,
  days: Days,
  page: { limit: number; offset: number },
): Promise<TestRow[]> {
  const { rows } = await sql<TestRow>`
    with shown as (
      select t.*, f.* from (
        select t.* from tests t
        where t.organization_id = ${org.id} and t.suite_id = ${suiteId} and ${condition} and ${isVisibleTest(org, caller)}
        order by t.id limit ${page.limit} offset ${page.offset}
      ) t cross join lateral (
        select ${figures} from test_days d
        where d.suite_id = t.suite_id and d.test_id = t.id and d.day between ${days.first} and ${days.last}
          and ${isVisibleDay(org, caller)}
      ) f
    )
    select ${columns(org, caller, days)} order by t.id`.execute(db)
  return rows
}

/** Until the transaction ends, no other transaction changes the test. */
export async function lockInSuite(
  trx: Trx,
  org: Organization,
  caller: Caller,
  suiteId: string,
  id: string,
): Promise<Identity & { state: TestState }> {
  const { rows } = await sql<Identity & { state: TestState }>`
    select t.id, t.scope, t.name, t.location, t.state from tests t
    where t.organization_id = ${org.id} and t.suite_id = ${suiteId} and t.id = ${id} and ${isVisibleTest(org, caller)}
    for no key update of t`.execute(trx)
  const [test] = rows
  if (test === undefined) throw notFound('No test found')
  return test
}
