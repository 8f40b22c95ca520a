import { sql, type RawBuilder } from 'kysely'
import { hasFeature, type Caller, type Organization } from '../../../auth/caller.ts'
import { hasFullAccess, visiblePipelines } from '../../../auth/pipeline-access.ts'
import { teamIsVisible } from '../../../auth/permissions.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { usualCurrency } from '../../pipelines/pipeline-settings/present.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'
import type { Month } from './month.ts'

interface Subject {
  id: string
  slug: string
  name: string
}

export interface BudgetRow {
  id: string
  pipeline: Subject | null
  team: Subject | null
  amount_micros: number
  spent_micros: number
  currency: string
  /** The highest share that is reached: 0, 80 or 100. */
  reached_percent: number
  /** The highest share that was announced in this month. */
  noticed_percent: number
  last_notice_at: string | null
  last_notice_percent: number | null
  created_at: string
  created_by: UserRow | null
}

/** For queries with `budgets b`: the sums of the month by pipeline and by team. They are read once, whatever the number of budgets. */
export const spentIn = (month: Month, organizations: RawBuilder<unknown>) => sql`
  spent as materialized (
    select r.organization_id, r.dimension, case r.dimension when 'team' then r.subject_id else r.pipeline_id end as subject_id,
      sum(r.cost_micros) as micros
    from insight_days r
    where r.organization_id in (${organizations}) and r.dimension in ('queue', 'team')
      and r.starts_at >= ${month.from} and r.starts_at < ${month.to}
    group by 1, 2, 3)`

export const joinSpent = sql`
  left join spent s on s.organization_id = b.organization_id
    and s.dimension = case when b.team_id is null then 'queue' else 'team' end
    and s.subject_id = coalesce(b.team_id, b.pipeline_id)`

export const reachedPercent = sql`
  case when s.micros >= b.amount_micros then 100 when s.micros >= b.amount_micros * 0.8 then 80 else 0 end`

export const noticedPercent = (month: Month) =>
  sql`case when b.noticed_month = ${month.firstDay}::date then b.noticed_percent else 0 end`

/** For queries with `pipelines p` or `teams t`. */
export const subjectJson = (table: 'p' | 't') => {
  const column = (name: string) => sql.ref(`${table}.${name}`)
  return sql`case when ${column('id')} is not null
    then json_build_object('id', ${column('id')}, 'slug', ${column('slug')}, 'name', ${column('name')}) end`
}

const select = (orgId: string, month: Month) => sql`
  with ${spentIn(month, sql`${orgId}`)}
  select b.id, ${subjectJson('p')} as pipeline, ${subjectJson('t')} as team, b.amount_micros,
    coalesce(s.micros, 0)::float8 as spent_micros, coalesce(settings.currency, ${usualCurrency}) as currency,
    ${reachedPercent} as reached_percent, ${noticedPercent(month)} as noticed_percent,
    b.last_notice_at, b.last_notice_percent, b.created_at,
    ${userJson('creator')} as created_by
  from budgets b ${joinSpent}
  left join pipelines p on p.id = b.pipeline_id
  left join teams t on t.id = b.team_id
  left join organization_pipeline_settings settings on settings.organization_id = b.organization_id
  left join users creator on creator.id = b.created_by
  where b.organization_id = ${orgId}`

/**
 * Members see those of pipelines that they may read. A team's sum has pipelines that others may not read, so with teams they see
 * only their own teams'.
 */
function isVisible(org: Organization, caller: Caller): RawBuilder<boolean> {
  if (org.role === 'admin') return sql`true`
  const isTheirs =
    hasFullAccess(org) && hasFeature(org, 'members_view_teams')
      ? teamIsVisible(org, caller)
      : sql`exists (select from team_members own where own.team_id = t.id and own.user_id = ${caller.user.id})`
  return sql`((p.id is not null and ${visiblePipelines(org, caller)}) or (t.id is not null and ${isTheirs}))`
}

export async function listVisible(
  db: Db,
  org: Organization,
  caller: Caller,
  month: Month,
  page: { limit: number; offset: number },
): Promise<BudgetRow[]> {
  const { rows } = await sql<BudgetRow>`${select(org.id, month)} and ${isVisible(org, caller)}
    order by b.created_at, b.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getVisible(
  db: Db,
  org: Organization,
  caller: Caller,
  month: Month,
  id: string,
): Promise<BudgetRow> {
  const { rows } =
    await sql<BudgetRow>`${select(org.id, month)} and b.id = ${id} and ${isVisible(org, caller)}`.execute(db)
  const [budget] = rows
  if (budget === undefined) throw notFound('No budget found')
  return budget
}

/** Until the transaction ends, no other transaction updates or deletes the budget. */
export async function lockInOrg(
  trx: Trx,
  orgId: string,
  month: Month,
  id: string,
): Promise<BudgetRow | undefined> {
  await sql`select from budgets where organization_id = ${orgId} and id = ${id} for update`.execute(trx)
  const { rows } = await sql<BudgetRow>`${select(orgId, month)} and b.id = ${id}`.execute(trx)
  return rows[0]
}

export async function insert(
  trx: Trx,
  row: {
    id: string
    organization_id: string
    pipeline_id: string | null
    team_id: string | null
    amount_micros: number
    created_at: string
    created_by: string
  },
): Promise<void> {
  await trx.insertInto('budgets').values(row).execute().catch(refuseTaken)
}

function refuseTaken(error: unknown): never {
  const constraint = violatedUnique(error)
  if (constraint === 'budgets_pipeline_key') throw validationFailed('the pipeline has a budget already')
  if (constraint === 'budgets_team_key') throw validationFailed('the team has a budget already')
  throw error
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  change: {
    amount_micros?: number
    noticed_month?: string
    noticed_percent?: number
    last_notice_at?: string
    last_notice_percent?: number
  },
): Promise<void> {
  await trx
    .updateTable('budgets')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await trx.deleteFrom('budgets').where('organization_id', '=', orgId).where('id', '=', id).execute()
}

/** A budget has no name of its own. */
export const auditSubject = ({ id, pipeline, team }: BudgetRow) => ({
  type: 'Budget',
  uuid: id,
  name: (pipeline ?? team)?.name ?? null,
})
