// The author of a pull request from a fork decides what its jobs run, so these jobs get nothing that is not public. A
// commit counts as a fork's unless it is known to be the repository's own.
import { sql } from 'kysely'
import type { NotifyEntry, PipelineDocument, StepDefinition } from '@millrace/engine/steps/types.ts'
import type { Db } from '../db/pool.ts'

/** Whose commit is built. There is no default: every code path that creates builds decides it. */
export type CommitOrigin = 'own' | 'fork'

/** Builds that an untrusted build triggered, and rebuilds of either, are untrusted too. */
export async function isUntrusted(
  db: Db,
  organizationId: string,
  buildIds: readonly string[],
): Promise<boolean> {
  if (buildIds.length === 0) return false
  const { rows } = await sql`
    with recursive ${lineOf(organizationId, buildIds)}
    select from line join builds b on b.organization_id = ${organizationId} and b.id = line.id
    left join pipelines p on p.id = line.pipeline_id
    where ${isFork} and coalesce((p.provider_settings -> 'trust_pull_request_forks')::boolean, false) is false
    limit 1`.execute(db)
  return rows.length > 0
}

export interface Origins {
  isFork: boolean
  isPullRequest: boolean
  isMergeQueue: boolean
}

/** Whether a build, or a build it was triggered by or rebuilds, is for a fork, a pull request or a merge queue. */
export async function originsOf(db: Db, organizationId: string, buildId: string): Promise<Origins> {
  const { rows } = await sql<Origins>`
    with recursive ${lineOf(organizationId, [buildId])}
    select coalesce(bool_or(${isFork}), false) as "isFork",
      coalesce(bool_or(jsonb_typeof(b.pull_request) = 'object'), false) as "isPullRequest",
      coalesce(bool_or(b.host_event -> 'mergeQueue' <> 'null'), false) as "isMergeQueue"
    from line join builds b on b.organization_id = ${organizationId} and b.id = line.id`.execute(db)
  return rows[0] ?? { isFork: true, isPullRequest: true, isMergeQueue: true }
}

/** Earlier versions stored it in the pull request only. */
const isFork = sql`(b.from_fork is true or coalesce(b.pull_request ->> 'fork' = 'true', false))`

/** The builds, the builds that triggered them and the builds they rebuild. */
const lineOf = (organizationId: string, buildIds: readonly string[]) => sql`
  line (id, pipeline_id, from_trigger, from_rebuild) as (
    select id, pipeline_id, triggered_from ->> 'build_id', rebuilt_from ->> 'id'
    from builds where organization_id = ${organizationId} and id = any (${buildIds}::uuid[])
    union
    select b.id, b.pipeline_id, b.triggered_from ->> 'build_id', b.rebuilt_from ->> 'id'
    from line join builds b on b.organization_id = ${organizationId}
      and b.id in (line.from_trigger::uuid, line.from_rebuild::uuid)
  )`

/** Steps that an untrusted build uploads may notify only the host of its commit. */
export function notifyingOnlyItsHost(document: PipelineDocument): PipelineDocument {
  const withoutOthers = <Step extends StepDefinition>(step: Step): Step => ({
    ...step,
    ...('notify' in step ? { notify: step.notify.filter(isForHost) } : {}),
    ...('steps' in step ? { steps: step.steps.map(withoutOthers) } : {}),
  })
  return {
    ...document,
    notify: document.notify.filter(isForHost),
    steps: document.steps.map(withoutOthers),
  }
}

const isForHost = ({ service }: NotifyEntry) =>
  service === 'github_commit_status' || service === 'github_check'
