// From the outbox to what is to be published: whatever happened to a build, its statuses follow from how it is now.
import { evaluateCondition } from '@millrace/engine/conditions/evaluate.ts'
import { stepOutcomeOf, stepStateOf } from '@millrace/engine/outcome.ts'
import { conditionFacts, findBuild } from '../../conductor/build.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId } from '../../lib/ids.ts'
import { hostSettings } from '../pipelines/provider.ts'
import * as statuses from './queries.ts'
import { statusesOf, type Holds } from './rules.ts'

/** One round: until nothing is left to look at, or another worker looks. */
export async function settleStatuses(ctx: Context, stopping: AbortSignal): Promise<void> {
  let isMore = await statuses.hasTouchedBuilds(ctx.db)
  while (isMore && !stopping.aborted) {
    isMore = await inTransaction(ctx.db, async (trx) => {
      const touched = await statuses.takeTouchedBuilds(trx)
      for (const id of touched?.ids ?? []) await settleBuild(trx, ctx, id)
      return touched?.isMore ?? false
    })
  }
}

async function settleBuild(trx: Trx, ctx: Context, id: string): Promise<void> {
  const published = await statuses.findPublished(trx, id)
  const build = published && (await findBuild(trx, published.organization_id, id))
  if (published === undefined || build === undefined) return
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
    // A mistake silences the one notification.
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
  await statuses.keep(trx, published, rows, ctx.now().toISOString())
}
