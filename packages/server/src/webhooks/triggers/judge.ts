// The build that a payload makes, or why it makes none. Deliveries and dry runs are judged alike.
import { evaluateCondition } from '@millrace/engine/conditions/evaluate.ts'
import { textAt } from '@millrace/engine/conditions/json-pointer.ts'
import type { FollowUp } from '../../conductor/advance.ts'
import { conditionFacts, requestedBuild, type BuildRequest } from '../../conductor/build.ts'
import { createBuild, describeRefusal } from '../../conductor/create-build.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inSavepoint } from '../../db/transaction.ts'
import { conflict, forbidden, refused } from '../../lib/errors.ts'
import { findForkPullOfCommit, isOwnCommit } from '../queries.ts'
import type { Armed } from '../../resources/pipelines/triggers/queries.ts'
import { mapPayload, type MappedBuild } from '../../resources/pipelines/triggers/rules.ts'

type Judged =
  | { kind: 'built'; id: string; number: number; followUps: FollowUp[] }
  /** Sent and understood, but not to be built. */
  | { kind: 'ignored'; reason: string }

/** Throws for what the sender or the owner must mend. */
export async function judge(trx: Trx, ctx: Context, trigger: Armed, payload: object): Promise<Judged> {
  refuseDisarmed(trigger)
  const request = await requestOf(trx, trigger, mapPayload(trigger, trigger.pipeline.default_branch, payload))
  const reason = refuseByCondition(trigger, request, payload)
  if (reason !== null) return { kind: 'ignored', reason }
  const created = await inSavepoint(
    trx,
    () => createBuild({ ...ctx, db: trx }, trigger.organization_id, request),
    ({ ok }) => ok,
  )
  if (created.ok) {
    return { kind: 'built', id: created.buildId, number: created.number, followUps: created.followUps }
  }
  if (created.reason === 'invalid_configuration') throw refused(describeRefusal(created))
  return { kind: 'ignored', reason: describeRefusal(created) }
}

function refuseDisarmed({ enabled, owner_may_build }: Armed): void {
  if (!enabled) throw conflict('The trigger is switched off.')
  if (owner_may_build) return
  throw forbidden(
    'The owner of the trigger may no longer build this pipeline. Whoever edits the trigger becomes its owner.',
  )
}

async function requestOf(
  trx: Trx,
  trigger: Armed,
  { branch, commit, message, env }: MappedBuild,
): Promise<BuildRequest> {
  return {
    pipelineId: trigger.pipeline.id,
    source: 'webhook',
    creatorId: trigger.owner_id,
    author: null,
    commit,
    commitOrigin: (await isOfFork(trx, trigger, commit)) ? 'fork' : 'own',
    branch,
    tag: null,
    message: message || trigger.name,
    env,
    metaData: {},
    pullRequest: null,
    hostEvent: { event: 'trigger', action: trigger.name, label: null, mergeQueue: null },
    foundBy: 'trigger',
    cleanCheckout: false,
    ignoreBranchFilters: false,
    rebuiltFrom: null,
    triggeredFrom: null,
    dueAt: null,
  }
}

/** Hosts let the commits of forks be fetched by their id, and a payload may name the head of a fork's pull request. */
async function isOfFork(trx: Trx, { organization_id, pipeline }: Armed, commit: string): Promise<boolean> {
  const of = { organization_id, id: pipeline.id }
  const pull = await findForkPullOfCommit(trx, of, commit)
  return pull !== null && !(await isOwnCommit(trx, of, commit))
}

/** The condition sees the build that would be made; it has no number, and its id is not stored. */
function refuseByCondition(trigger: Armed, request: BuildRequest, payload: object): string | null {
  const { condition, pipeline_env: env } = trigger
  if (condition === null) return null
  const facts = conditionFacts(requestedBuild(request, trigger, env))
  const judged = evaluateCondition(condition, { ...facts, payload: (pointer) => textAt(payload, pointer) })
  if (!judged.ok) throw refused(`The condition cannot be decided: ${judged.message}.`)
  return judged.value ? null : `The condition does not hold: ${condition}`
}
