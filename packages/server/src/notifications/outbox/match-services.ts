// Finds the services that want an event.
import { sql } from 'kysely'
import { matchesBranch } from '@millrace/engine/branches.ts'
import { isPreflight } from '../../db/preflight.ts'
import type { Db, Trx } from '../../db/pool.ts'
import {
  isAuditEventName,
  type AuditEventName,
  type BuildStateName,
  type ProviderId,
  type ScopeName,
} from '../names.ts'
import type { Settings } from '../provider.ts'
import { findWants } from '../providers/table.ts'
import { isForServices, type EventTrigger, type ServiceTrigger } from './triggers.ts'

/** The part of a service that decides which events it gets. */
export interface Listener {
  id: string
  organization_id: string
  provider: ProviderId
  scope: ScopeName
  targets: readonly string[]
  branch_configuration: string
  build_states: readonly BuildStateName[]
  /** Without secrets. */
  settings: Settings
  listening_since: string
}

/** Where something happened. A build has a branch and a pipeline; an agent has only a cluster; a suite may have a pipeline;
 * a budget has a pipeline or a team. */
interface Origin {
  branch: string | null
  pipelineId: string | null
  clusterId: string | null
  teamIds: readonly string[]
  isPreflight: boolean
}

export async function matchServices(
  trx: Trx,
  triggers: readonly EventTrigger[],
): Promise<Array<{ trigger: ServiceTrigger; listener: Listener }>> {
  const possible = triggers.filter(isForServices)
  const listeners = await listListeners(trx, unique(possible.map(({ row }) => row.organization_id)))
  if (listeners.length === 0) return []
  const orgIds = new Set(listeners.map((listener) => listener.organization_id))
  const listened = await withFixed(
    trx,
    possible.filter(({ row }) => orgIds.has(row.organization_id)),
  )
  const wanted = listened.flatMap((trigger) =>
    listeners.filter((listener) => wants(listener, trigger)).map((listener) => ({ trigger, listener })),
  )
  const buildIds = unique(wanted.flatMap(({ trigger }) => trigger.row.build_id ?? []))
  const builds = await findOrigins(trx, [...orgIds], buildIds)
  const suiteIds = unique(wanted.flatMap(({ trigger }) => trigger.row.data.suite_id ?? []))
  const suites = await findOriginsOfSuites(trx, [...orgIds], suiteIds)
  const budgetIds = unique(wanted.flatMap(({ trigger }) => trigger.row.data.budget_id ?? []))
  const budgets = await findOriginsOfBudgets(trx, [...orgIds], budgetIds)
  const originOf = ({ build_id: buildId, data }: ServiceTrigger['row']) => {
    if (buildId !== null) return builds.get(buildId)
    if (data.budget_id !== undefined) return budgets.get(data.budget_id)
    return data.suite_id === undefined ? originOfAgent(data.cluster_id) : suites.get(data.suite_id)
  }
  return wanted.filter(({ trigger: { row }, listener }) => {
    const origin = originOf(row)
    return origin !== undefined && isInScope(listener, origin)
  })
}

const unique = (ids: readonly string[]) => [...new Set(ids)]

/** Enabled services. Until the transaction ends none of them can be disabled, updated or deleted. */
async function listListeners(trx: Trx, orgIds: readonly string[]): Promise<Listener[]> {
  if (orgIds.length === 0) return []
  const { rows } = await sql<Listener>`
    select s.id, s.organization_id, s.provider, s.scope, s.branch_configuration, s.build_states, s.settings, s.listening_since,
      array(select coalesce(t.pipeline_id, t.team_id, t.cluster_id) from notification_service_targets t
        where t.service_id = s.id) as targets
    from notification_services s
    where s.organization_id = any (${orgIds}::uuid[]) and s.disabled_at is null and s.broken_at is null
    order by s.id for share of s`.execute(trx)
  return rows
}

const wants = (listener: Listener, trigger: ServiceTrigger): boolean =>
  listener.organization_id === trigger.row.organization_id &&
  listener.listening_since <= trigger.row.created_at &&
  (isOfAudit(trigger)
    ? wantsAuditEvents(listener)
    : (findWants(listener.provider)?.(
        { settings: listener.settings, buildStates: listener.build_states },
        trigger,
      ) ?? false))

const isOfAudit = (trigger: ServiceTrigger): trigger is Extract<ServiceTrigger, { event: AuditEventName }> =>
  isAuditEventName(trigger.event)

const wantsAuditEvents = ({ provider, settings }: Listener): boolean =>
  provider === 'cloud_event_bus' && settings['include_audit_events'] === true

/** A work tree that is not committed concerns only the person who works on it. */
const forTeams: ReadonlySet<ProviderId> = new Set<ProviderId>(['chat', 'chat_workspace', 'issue_tracker'])

function isInScope(listener: Listener, origin: Origin): boolean {
  const { branch, pipelineId, clusterId, teamIds, isPreflight } = origin
  if (isPreflight && forTeams.has(listener.provider)) return false
  if (branch !== null && !matchesBranch(listener.branch_configuration, branch)) return false
  const isTarget = (id: string | null) => id !== null && listener.targets.includes(id)
  switch (listener.scope) {
    case 'all':
      return true
    case 'some_projects':
      return isTarget(pipelineId)
    case 'some_teams':
      return teamIds.some(isTarget)
    case 'some_clusters':
      return isTarget(clusterId)
  }
}

const originOfAgent = (clusterId: string | undefined): Origin => ({
  branch: null,
  pipelineId: null,
  clusterId: clusterId ?? null,
  teamIds: [],
  isPreflight: false,
})

/** By build; deleted builds are left out. */
async function findOrigins(
  db: Db,
  orgIds: readonly string[],
  buildIds: readonly string[],
): Promise<Map<string, Origin>> {
  const { rows } = await sql<Origin & { id: string }>`
    select b.id, b.branch, b.pipeline_id as "pipelineId", p.cluster_id as "clusterId",
      array(select t.team_id from team_pipelines t where t.pipeline_id = p.id) as "teamIds",
      ${isPreflight} as "isPreflight"
    from builds b join pipelines p on p.id = b.pipeline_id
    where b.organization_id = any (${orgIds}::uuid[]) and b.id = any (${buildIds}::uuid[])`.execute(db)
  return new Map(rows.map(({ id, ...origin }) => [id, origin]))
}

/** By suite; deleted ones are left out. */
async function findOriginsOfSuites(
  db: Db,
  orgIds: readonly string[],
  suiteIds: readonly string[],
): Promise<Map<string, Origin>> {
  if (suiteIds.length === 0) return new Map()
  const { rows } = await sql<Origin & { id: string }>`
    select s.id, null as branch, s.pipeline_id as "pipelineId", p.cluster_id as "clusterId", false as "isPreflight",
      array(select t.team_id from team_pipelines t where t.pipeline_id = p.id
        union select t.team_id from team_suites t where t.suite_id = s.id) as "teamIds"
    from test_suites s left join pipelines p on p.id = s.pipeline_id
    where s.organization_id = any (${orgIds}::uuid[]) and s.id = any (${suiteIds}::uuid[])`.execute(db)
  return new Map(rows.map(({ id, ...origin }) => [id, origin]))
}

/** By budget; deleted ones are left out. */
async function findOriginsOfBudgets(
  db: Db,
  orgIds: readonly string[],
  budgetIds: readonly string[],
): Promise<Map<string, Origin>> {
  if (budgetIds.length === 0) return new Map()
  const { rows } = await sql<Origin & { id: string }>`
    select b.id, null as branch, b.pipeline_id as "pipelineId", p.cluster_id as "clusterId", false as "isPreflight",
      array(select t.team_id from team_pipelines t where t.pipeline_id = p.id
        union select b.team_id where b.team_id is not null) as "teamIds"
    from budgets b left join pipelines p on p.id = b.pipeline_id
    where b.organization_id = any (${orgIds}::uuid[]) and b.id = any (${budgetIds}::uuid[])`.execute(db)
  return new Map(rows.map(({ id, ...origin }) => [id, origin]))
}

/** For queries with `builds b`: the state of the newest earlier build of the branch that passed or failed. */
export const earlierVerdict = sql`
  select p.state from builds p
  where p.pipeline_id = b.pipeline_id and p.branch = b.branch and p.created_at <= b.created_at
    and p.number < b.number and p.state in ('passed', 'failed')
  order by p.created_at desc, p.id desc limit 1`

/** Adds the state `build_fixed`. */
async function withFixed(trx: Trx, triggers: readonly ServiceTrigger[]): Promise<ServiceTrigger[]> {
  const hasPassed = ({ states }: ServiceTrigger) => states.includes('build_passed')
  const fixed = await findFixed(
    trx,
    triggers
      .filter(hasPassed)
      .flatMap(({ row: { id, build_id: buildId } }) => (buildId === null ? [] : [{ eventId: id, buildId }])),
  )
  return triggers.map((trigger) =>
    hasPassed(trigger) && fixed.has(trigger.row.id)
      ? { ...trigger, states: [...trigger.states, 'build_fixed'] }
      : trigger,
  )
}

/**
 * Which of these passed builds were fixed, which is when the verdict before was a failure. The verdict before is the build's
 * own when it had ended earlier and was continued, else that of the newest earlier build of the branch that passed or
 * failed. Canceled and skipped builds do not count. The event of its own end may be deleted; that of its continuation says
 * how it ended.
 */
async function findFixed(
  db: Db,
  ends: ReadonlyArray<{ eventId: number; buildId: string }>,
): Promise<Set<number>> {
  if (ends.length === 0) return new Set()
  const { rows } = await sql<{ event_id: number }>`
    select w.event_id
    from unnest(${ends.map(({ eventId }) => eventId)}::bigint[], ${ends.map(({ buildId }) => buildId)}::uuid[])
      as w (event_id, build_id)
    join builds b on b.id = w.build_id
    left join lateral (
      select case when e.data ->> 'to' in ('passed', 'failed') then e.data ->> 'to' else e.data ->> 'from' end as verdict
      from events e
      where e.build_id = b.id and e.id < w.event_id and e.kind = 'build.state_changed'
        and (e.data ->> 'to' in ('passed', 'failed') or e.data ->> 'from' in ('passed', 'failed'))
      order by e.id desc limit 1
    ) own on true
    left join lateral (${earlierVerdict}) earlier on true
    where coalesce(own.verdict, earlier.state) = 'failed'`.execute(db)
  return new Set(rows.map(({ event_id: id }) => id))
}
