// Reads the outbox and updates the statuses of every build that had an event. Statuses follow from the present state of the
// build, so it does not matter which events there were.
import { evaluateCondition } from '@millrace/engine/conditions/evaluate.ts'
import { stepOutcomeOf, stepStateOf } from '@millrace/engine/outcome.ts'
import { conditionFacts, findBuild } from '../../../conductor/build.ts'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import { hostSettings } from '../../../source-hosts/settings.ts'
import * as statuses from './queries.ts'
import { enqueueReports } from './report.ts'
import { statusesOf, type Holds } from './rules.ts'

/** Ends when no events are left, or when another worker reads them. */
export async function updateStatuses(ctx: Context, stopping: AbortSignal): Promise<void> {
  let isMore = true
  while (isMore && !stopping.aborted) {
    isMore = await inTransaction(ctx.db, async (trx) => {
      const touched = await statuses.takeTouchedBuilds(trx)
      const changed = new Set<string>()
      for (const id of touched?.ids ?? []) {
        const pipelineId = await updateBuild(trx, ctx, id)
        if (pipelineId !== null) changed.add(pipelineId)
      }
      await enqueueReports(trx, [...changed])
      return touched?.isMore ?? false
    })
  }
}

/** The pipeline of the build; null: no status changed. */
async function updateBuild(trx: Trx, ctx: Context, id: string): Promise<string | null> {
  const published = await statuses.findPublished(trx, id)
  const build = published && (await findBuild(trx, published.organization_id, id))
  if (published === undefined || build === undefined) return null
  const settings = hostSettings(published.provider_settings)
  const which = settings.publish_commit_status_per_step ? 'all' : 'notifying'
  const steps = await statuses.listSteps(trx, published.organization_id, id, which)
  const facts = conditionFacts(build)
  const holds: Holds = ({ condition }, step) => {
    if (condition === null) return true
    const known = step && {
      id: step.id,
      key: step.key,
      label: step.definition.label,
      type: step.kind,
      state: stepStateOf(step),
      outcome: stepOutcomeOf(step),
    }
    // An entry whose condition cannot be evaluated has no status.
    const judged = evaluateCondition(condition, known === null ? facts : { ...facts, step: known })
    return judged.ok && judged.value
  }
  const wanted = statusesOf(
    {
      number: build.number,
      state: build.state,
      blockedState: build.blockedState,
      isForPullRequest: Boolean(build.pullRequest),
      pipelineSlug: build.pipeline.slug,
      notify: published.notify,
    },
    steps,
    settings,
    holds,
  )
  const rows = wanted.map((status) => ({ id: newId(), ...status }))
  const hasChanged = await statuses.upsert(trx, published, rows, ctx.now().toISOString())
  return hasChanged ? published.pipeline_id : null
}
