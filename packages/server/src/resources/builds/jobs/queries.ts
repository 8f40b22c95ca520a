import { sql, type RawBuilder } from 'kysely'
import { isFinal } from '@millrace/engine/states.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { teamIsVisible } from '../../../auth/permissions.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import { chargeRetry } from '../../../conductor/shares/share-key.ts'
import { escaped } from '../../../db/json-text.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import type { Position } from '../../../http/cursors.ts'
import { jobJson, jobsInBuilds, statesShownAs } from '../../job/job-json.ts'

interface JobFilter {
  /** As the API spells them; empty: all. */
  states: readonly string[]
  withRetried: boolean
  stepKey: string | undefined
  groupKey: string | undefined
}

interface ListedJob {
  id: string
  position: string
  json: string
}

/** In the order of the pipeline; from `before`, in reverse. Retries follow the job they repeat. */
export async function listInBuild(
  db: Db,
  url: string,
  orgId: string,
  buildId: string,
  {
    filter: { states, withRetried, stepKey, groupKey },
    page: { after, before, limit },
  }: { filter: JobFilter; page: { after: Position | null; before: Position | null; limit: number } },
): Promise<ListedJob[]> {
  const part =
    after !== null
      ? sql`(j.position, j.id) > (${after.at}, ${after.id}::uuid)`
      : before !== null
        ? sql`(j.position, j.id) < (${before.at}, ${before.id}::uuid)`
        : sql`true`
  const order = before === null ? sql`j.position, j.id` : sql`j.position desc, j.id desc`
  const { rows } = await sql<ListedJob>`
    select j.id, j.position, ${jobJson(escaped(url))} as json from ${jobsInBuilds}
    where j.organization_id = ${orgId} and j.build_id = ${buildId} and ${part} and ${inStates(states)}
      and (${withRetried} or j.retried_in_job_id is null)
      and (${stepKey ?? null}::text is null or j.step_key = ${stepKey ?? null})
      and (${groupKey ?? null}::text is null or j.group_key = ${groupKey ?? null})
    order by ${order} limit ${limit}`.execute(db)
  return rows
}

interface OrgJobFilter {
  /** As the API spells them; empty: all. The same holds for the others. */
  states: readonly string[]
  kinds: readonly string[]
  queueIds: readonly string[]
  /** The job must have all of these. */
  agentQueryRules: readonly string[]
}

/**
 * The organization's jobs that the caller may see, those of the newest build first. Finished jobs are searched in so many of the
 * newest builds; open jobs in all.
 */
export const mostSearchedBuilds = 2000

export async function listInOrg(
  db: Db,
  org: Organization,
  caller: Caller,
  { states, kinds, queueIds, agentQueryRules }: OrgJobFilter,
  { url, limit, offset }: { url: string; limit: number; offset: number },
): Promise<string[]> {
  const areOpen = states.length > 0 && statesShownAs(states).every((state) => !isFinal(state))
  const builds = areOpen
    ? sql`builds`
    : sql`(select * from builds where organization_id = ${org.id}
        order by created_at desc, id desc limit ${mostSearchedBuilds})`
  const oneOf = (column: string, values: readonly string[], type: 'text' | 'uuid') =>
    values.length === 0 ? sql`true` : sql`${sql.ref(column)} = any (${values}::${sql.raw(type)}[])`
  const order = sql`b.created_at desc, b.id desc, j.position desc, j.id desc`
  const { rows } = await sql<{ json: string }>`
    select ${jobJson(escaped(url))} as json from ${jobsInBuilds}
    where j.organization_id = ${org.id} and j.id = any (array(
      select j.id from ${builds} b join pipelines p on p.id = b.pipeline_id join jobs j on j.build_id = b.id
      where b.organization_id = ${org.id} and j.organization_id = ${org.id} and ${visiblePipelines(org, caller)}
        and ${areOpen ? sql`j.finished_at is null` : sql`true`} and ${inStates(states)}
        and ${oneOf('j.kind', kinds, 'text')} and ${oneOf('j.queue_id', queueIds, 'uuid')}
        and ${followsRules(agentQueryRules)}
      order by ${order} limit ${limit} offset ${offset}))
    order by ${order}`.execute(db)
  return rows.map(({ json }) => json)
}

/** The queue counts as a rule, also where the step does not name it. */
function followsRules(rules: readonly string[]): RawBuilder<unknown> {
  return sql`not exists (
    select from unnest(${rules}::text[]) as r(rule)
    where r.rule <> all (j.agent_query_rules) and not exists (
      select from cluster_queues q where q.id = j.queue_id and r.rule = 'queue=' || q.key))`
}

/** A running job that has promised a hard failure counts as failed already. */
function inStates(names: readonly string[]): RawBuilder<unknown> {
  if (names.length === 0) return sql`true`
  const hasPromised = sql`(j.state = 'running' and j.promised_hard)`
  return sql`case when ${hasPromised} then ${names.includes('failed')} else j.state = any (${statesShownAs(names)}::text[]) end`
}

/** The job as the API shows it. */
export async function getShown(db: Db, url: string, orgId: string, id: string): Promise<object> {
  const { rows } = await sql<{ json: string }>`
    select ${jobJson(escaped(url))} as json from ${jobsInBuilds} where j.organization_id = ${orgId} and j.id = ${id}`.execute(
    db,
  )
  const [row] = rows
  if (row === undefined) throw new Error('A job vanished while it was shown.')
  return JSON.parse(row.json) as object
}

/** To call after the retry. */
export async function setRetriedBy(
  trx: Trx,
  orgId: string,
  id: string,
  { user, token }: Caller,
): Promise<void> {
  await trx
    .updateTable('jobs')
    .set({ retried_by: user.id })
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
  await chargeRetry(trx, orgId, id, { userId: user.id, isMachine: token.is_machine })
}

/** False: an agent has taken the job, which stays as it is. */
export async function setPriority(trx: Trx, orgId: string, id: string, priority: number): Promise<boolean> {
  const { rows } = await sql`
    update jobs set priority = ${priority}
    where organization_id = ${orgId} and id = ${id} and kind = 'script'
      and state in ('pending', 'waiting', 'blocked', 'limiting', 'limited', 'scheduled', 'reserved')
    returning id`.execute(trx)
  return rows.length > 0
}

/** Whether a synchronous trigger step of a build that was canceled since created this build, which was not. */
export async function isParentCanceled(db: Db, orgId: string, buildId: string): Promise<boolean> {
  const { rows } = await sql`
    select from builds b join jobs t on t.id = b.triggered_from_job_id join builds parent on parent.id = t.build_id
    where b.organization_id = ${orgId} and b.id = ${buildId} and not (t.work ->> 'async')::boolean
      and b.state not in ('canceling', 'canceled') and parent.state in ('canceling', 'canceled')`.execute(db)
  return rows.length > 0
}

export async function mayRetryByHand(db: Db, orgId: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ is_allowed: boolean }>`
    select (policy #>> '{retry,manual,allowed}')::boolean as is_allowed from jobs
    where organization_id = ${orgId} and id = ${id}`.execute(db)
  return rows[0]?.is_allowed ?? false
}

export interface AllowedTeams {
  /** Only some teams may unblock the job. */
  is_limited: boolean
  /** The caller is in one of them. */
  is_member: boolean
  /** As the step writes them, or by the names of those that the caller sees. */
  names: string[]
}

/** Of a manual job. */
export async function findAllowedTeams(
  db: Db,
  org: Organization,
  id: string,
  caller: Caller,
): Promise<AllowedTeams> {
  const isWritten = sql`written.team in (t.slug, t.id::text)`
  const { rows } = await sql<AllowedTeams>`
    select jsonb_array_length(j.work -> 'allowedTeams') > 0 as is_limited,
      exists (
        select from teams t join team_members m on m.team_id = t.id
        where t.organization_id = ${org.id} and m.user_id = ${caller.user.id}
          and (j.work -> 'allowedTeams' ? t.slug or j.work -> 'allowedTeams' ? t.id::text)) as is_member,
      array(
        select coalesce((
            select t.name from teams t
            where t.organization_id = ${org.id} and ${isWritten} and ${teamIsVisible(org, caller)}
            order by t.slug = written.team desc limit 1), written.team)
        from jsonb_array_elements_text(j.work -> 'allowedTeams') with ordinality as written (team, place)
        order by written.place) as names
    from jobs j where j.organization_id = ${org.id} and j.id = ${id}`.execute(db)
  return rows[0] ?? { is_limited: true, is_member: false, names: [] }
}

export async function isMember(db: Db, orgId: string, userId: string): Promise<boolean> {
  const found = await db
    .selectFrom('organization_members')
    .select('user_id')
    .where('organization_id', '=', orgId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return found !== undefined
}
