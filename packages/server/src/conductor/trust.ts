// Whoever opens a pull request from a fork decides what its jobs run, so these get nothing that others could not have.
import { sql } from 'kysely'
import type { NotifyEntry, PipelineDocument, StepDefinition } from '@millrace/engine/steps/types.ts'
import type { Db } from '../db/pool.ts'

/** A build that such a build triggered, or a repetition of either, is no more to be trusted. */
export async function isUntrusted(
  db: Db,
  organizationId: string,
  buildIds: readonly string[],
): Promise<boolean> {
  if (buildIds.length === 0) return false
  const { rows } = await sql`
    with recursive line (id, pipeline_id, is_fork, from_trigger, from_rebuild) as (
      select id, pipeline_id, pull_request ->> 'fork' = 'true', triggered_from ->> 'build_id', rebuilt_from ->> 'id'
      from builds where organization_id = ${organizationId} and id = any (${buildIds}::uuid[])
      union
      select b.id, b.pipeline_id, b.pull_request ->> 'fork' = 'true', b.triggered_from ->> 'build_id',
        b.rebuilt_from ->> 'id'
      from line join builds b on b.organization_id = ${organizationId}
        and b.id in (line.from_trigger::uuid, line.from_rebuild::uuid)
    )
    select from line join pipelines p on p.id = line.pipeline_id
    where line.is_fork and coalesce((p.provider_settings -> 'trust_pull_request_forks')::boolean, false) is false`.execute(
    db,
  )
  return rows.length > 0
}

/** Steps that such a build uploads may say how it went where its commit is, and nowhere else in the organization's name. */
export function tellingOnlyItsHost(document: PipelineDocument): PipelineDocument {
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
