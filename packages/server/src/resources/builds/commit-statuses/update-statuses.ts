// Reads the outbox and updates the statuses of every build that had an event. Statuses follow from the present state of the
// build, so it does not matter which events there were.
import { evaluateCondition } from '@millrace/engine/conditions/evaluate.ts'
import { stepOutcomeOf, stepStateOf } from '@millrace/engine/outcome.ts'
import { conditionFacts, findBuild, type Build } from '../../../conductor/build.ts'
import { isTriggeredByUpload, isUntrusted } from '../../../conductor/trust.ts'
import type { Context } from '../../../context.ts'
import { isDatabaseAway } from '../../../db/away.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import { eachRowApart, listToTryAgain } from '../../../db/each-row.ts'
import { hostSettings } from '../../../source-hosts/settings.ts'
import { upsertComment } from './comments/queries.ts'
import * as statuses from './queries.ts'
import { enqueueReports } from './report.ts'
import { statusesOf, type Holds } from './rules.ts'

/** Builds that have failed before and are tried again with others. */
const mostAgain = 100

/** Ends when no events are left, or when another worker reads them. */
export async function updateStatuses(ctx: Context, stopping: AbortSignal): Promise<void> {
  let isMore = true
  while (isMore && !stopping.aborted) {
    isMore = await inTransaction(ctx.db, (trx) => updateSome(trx, ctx, 'together')).catch(
      (error: unknown) => {
        if (isDatabaseAway(error)) throw error
        return inTransaction(ctx.db, (trx) => updateSome(trx, ctx, 'apart'))
      },
    )
  }
}

/** Savepoints cost a round trip each, so they are used only if a build fails. */
async function updateSome(trx: Trx, ctx: Context, how: 'together' | 'apart'): Promise<boolean> {
  const touched = await statuses.takeTouchedBuilds(trx)
  if (touched === null) return false
  const within = { ...ctx, db: trx }
  const failed = await listToTryAgain(within, 'commit_statuses', mostAgain)
  const changed = new Set<string>()
  const update = async (id: string): Promise<void> => {
    const pipelineId = await updateBuild(trx, ctx, id)
    if (pipelineId !== null) changed.add(pipelineId)
  }
  const ids = new Set([...failed, ...touched.ids])
  if (how === 'apart' || failed.length > 0)
    await eachRowApart(within, 'commit_statuses', [...ids], String, update)
  else for (const id of ids) await update(id)
  await enqueueReports(trx, [...changed])
  return touched.isMore
}

/** The pipeline of the build; null: nothing is to be reported. */
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
  const untrusted = published.may_be_untrusted && (await isUntrusted(trx, published.organization_id, [id]))
  const wanted = statusesOf(
    {
      number: build.number,
      state: build.state,
      blockedState: build.blockedState,
      isForPullRequest: Boolean(build.pullRequest),
      isOfFork: published.is_fork,
      isUntrusted: untrusted,
      isChosenByFork: untrusted && (await isTriggeredByUpload(trx, published.organization_id, id)),
      pipelineSlug: build.pipeline.slug,
      notify: published.notify,
    },
    steps,
    settings,
    holds,
  )
  const rows = wanted.map((status) => ({ id: newId(), ...status }))
  const at = ctx.now().toISOString()
  const hasChanged = await statuses.upsert(trx, published, rows, at)
  const hasComment = settings.failure_comment && (await updateComment(trx, published, build, at))
  return hasChanged || hasComment ? published.pipeline_id : null
}

/** What hosts number pull requests with; through the API somebody may give anything. */
const pullRequestNumber = /^[1-9]\d{0,9}$/

async function updateComment(
  trx: Trx,
  { organization_id, pipeline_id, id, number }: statuses.PublishedBuild,
  { state, pullRequest }: Build,
  at: string,
): Promise<boolean> {
  if (state !== 'failed' && state !== 'passed') return false
  if (pullRequest === null || !pullRequestNumber.test(pullRequest.id)) return false
  const ended = { organization_id, pipeline_id, id, number, state, pull_request: pullRequest.id }
  return upsertComment(trx, ended, at)
}
