// Which services are told of what.
import { sql } from 'kysely'
import { matchesBranch } from '@millrace/engine/branches.ts'
import type { Db, Trx } from '../../db/pool.ts'
import type { ServiceOccasion } from './triggers.ts'
import type { BuildStateName, ProviderId, ScopeName } from '../names.ts'
import { findWants } from '../providers/table.ts'
import type { Settings } from '../provider.ts'

/** As much of a service as decides what it hears of. */
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

/** Where something happened. A build has a branch and stands in a pipeline; an agent stands in a cluster alone. */
export interface Setting {
  branch: string | null
  pipelineId: string | null
  clusterId: string | null
  teamIds: readonly string[]
}

/** Enabled services of the organizations. Until the transaction ends none of them is disabled, changed or deleted. */
export async function listListeners(trx: Trx, orgIds: readonly string[]): Promise<Listener[]> {
  const { rows } = await sql<Listener>`
    select s.id, s.organization_id, s.provider, s.scope, s.branch_configuration, s.build_states, s.settings, s.listening_since,
      array(select coalesce(t.pipeline_id, t.team_id, t.cluster_id) from notification_service_targets t
        where t.service_id = s.id) as targets
    from notification_services s
    where s.organization_id = any (${orgIds}::uuid[]) and s.disabled_at is null and s.broken_at is null
    order by s.id for share of s`.execute(trx)
  return rows
}

export const wantsOccasion = (listener: Listener, occasion: ServiceOccasion): boolean =>
  listener.organization_id === occasion.row.organization_id &&
  listener.listening_since <= occasion.row.created_at &&
  (findWants(listener.provider)?.(
    { settings: listener.settings, buildStates: listener.build_states },
    occasion,
  ) ??
    false)

export function isInScope(listener: Listener, { branch, pipelineId, clusterId, teamIds }: Setting): boolean {
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

export async function findBuildSettings(
  db: Db,
  orgIds: readonly string[],
  buildIds: readonly string[],
): Promise<Map<string, Setting>> {
  const { rows } = await sql<Setting & { id: string }>`
    select b.id, b.branch, b.pipeline_id as "pipelineId", p.cluster_id as "clusterId",
      array(select t.team_id from team_pipelines t where t.pipeline_id = p.id) as "teamIds"
    from builds b join pipelines p on p.id = b.pipeline_id
    where b.organization_id = any (${orgIds}::uuid[]) and b.id = any (${buildIds}::uuid[])`.execute(db)
  return new Map(rows.map(({ id, ...setting }) => [id, setting]))
}

/**
 * Which of these ends of passing builds mean that something was fixed: the verdict before was a failure. That is the
 * build's own, where it ended before and was opened again, else that of the newest earlier build of the branch
 * that passed or failed; canceled and skipped ones say nothing.
 */
export async function findFixed(
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
      select e.data ->> 'to' as verdict from events e
      where e.build_id = b.id and e.id < w.event_id and e.kind = 'build.state_changed'
        and e.data ->> 'to' in ('passed', 'failed')
      order by e.id desc limit 1
    ) own on true
    left join lateral (
      select p.state as verdict from builds p
      where p.pipeline_id = b.pipeline_id and p.branch = b.branch and p.created_at <= b.created_at
        and p.number < b.number and p.state in ('passed', 'failed')
      order by p.created_at desc, p.id desc limit 1
    ) earlier on true
    where coalesce(own.verdict, earlier.verdict) = 'failed'`.execute(db)
  return new Set(rows.map(({ event_id: id }) => id))
}
