// Carries out a delivery: one transaction for all of its events, so that a delivery that failed can be sent again.
import { evaluateCondition } from '@millrace/engine/conditions/evaluate.ts'
import { carryOut } from '../conductor/act.ts'
import { advanceIn, type FollowUp } from '../conductor/advance.ts'
import { conditionFacts, requestedBuild, type BuildRequest, type FoundBy } from '../conductor/build.ts'
import { createBuild, describeRefusal } from '../conductor/create-build.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { inSavepoint, inTransaction } from '../db/transaction.ts'
import { notFound } from '../lib/errors.ts'
import { sendAgain } from '../resources/builds/commit-statuses/queries.ts'
import { enqueueReports } from '../resources/builds/commit-statuses/report.ts'
import { hostOf, hostSettings, locate } from '../source-hosts/settings.ts'
import type { Deleted, HostEvent, Pushed } from '../source-hosts/events.ts'
import { hostOfType } from '../source-hosts/hosts.ts'
import { takeCheck, type BuiltAgain } from './checks.ts'
import { hear } from './ledger.ts'
import { publishNotNeeded } from './not-needed.ts'
import { noteDelivery } from './poll-queries.ts'
import { findReconciled, keepPullBuild } from './pull-ledger.ts'
import * as deliveries from './queries.ts'
import type { Target } from './queries.ts'
import type { WebhookDelivery } from './read.ts'
import { decide, type Known, type Wanted } from './rules.ts'
import type { DeliveryAnswer, Outcome } from './schema.ts'

const mostBuilds = 100

interface Taken {
  outcomes: Outcome[]
  followUps: FollowUp[]
}

export async function receive(
  ctx: Context,
  target: Target,
  delivery: WebhookDelivery,
): Promise<DeliveryAnswer> {
  const { answer, followUps } = await inTransaction(ctx.db, async (trx) => {
    const isNew =
      delivery.id === null ||
      (await deliveries.claimWebhookDelivery(trx, target, delivery.id, ctx.now().toISOString()))
    if (!isNew) return { answer: await replay(trx, target, delivery), followUps: [] }
    const foundBy = delivery.host === 'git' ? 'hook' : 'webhook'
    const taken = await takeIn(trx, ctx, target, delivery, foundBy)
    const answer = { message: summary(taken.outcomes), outcomes: taken.outcomes, replayed: false }
    if (delivery.id !== null) await deliveries.keepAnswer(trx, target, delivery.id, answer)
    return { answer, followUps: taken.followUps }
  })
  await carryOut(ctx, followUps)
  return answer
}

async function replay(trx: Trx, target: Target, { id }: WebhookDelivery): Promise<DeliveryAnswer> {
  const first = (await deliveries.findAnswer(trx, target, id ?? '')) as DeliveryAnswer
  return { ...first, message: `Received before. ${first.message}`, replayed: true }
}

/** Polls call it too, with a delivery of their own making. */
export async function takeIn(
  trx: Trx,
  ctx: Context,
  { organization_id, id }: Pick<Target, 'organization_id' | 'id'>,
  delivery: WebhookDelivery,
  foundBy: FoundBy,
): Promise<Taken> {
  const target = await deliveries.lockTarget(trx, organization_id, id)
  if (target === undefined) throw notFound('No pipeline found')
  const taken: Taken = { outcomes: [], followUps: [] }
  const refusal = refuseAll(target, delivery)
  const hasLedger = refusal === null && isHeard(target, delivery, foundBy)
  if (hasLedger) await noteDelivery(trx, target, ctx.now().toISOString())
  let made = 0
  for (const event of delivery.events) {
    const tooMany = made >= mostBuilds ? `One delivery makes ${mostBuilds} builds at most.` : null
    const reason = refusal ?? tooMany
    const take = () => takeOne(trx, ctx, target, { delivery, event, foundBy })
    const one =
      reason !== null
        ? ignored(refOf(event), reason)
        : hasLedger && (event.kind === 'pushed' || event.kind === 'deleted')
          ? await takeOnce(trx, ctx, target, { event, foundBy }, take)
          : hasLedger
            ? await takePullOnce(trx, ctx, target, event, take)
            : await take()
    taken.outcomes.push(one.outcome)
    taken.followUps.push(...one.followUps)
    if (one.outcome.result === 'built') made += 1
  }
  return taken
}

function refuseAll(target: Target, delivery: WebhookDelivery): string | null {
  if (target.archived_at !== null) return 'The pipeline is archived.'
  const { name, webhook } = hostOfType(delivery.host)
  if (webhook.canBeDisabled && target.webhooks_disabled_at !== null) {
    return `Webhooks from ${name} are switched off for this pipeline.`
  }
  return isElsewhere(target, delivery)
    ? `The delivery is about another repository than the pipeline's ${locate(target.repository)?.path}.`
    : null
}

/** Names are compared only on the same host: a pipeline may build a mirror. */
function isElsewhere(target: Target, delivery: WebhookDelivery): boolean {
  const paths = pathsOn(target.repository_host, delivery)
  return target.repository_host !== null && paths.length > 0 && !paths.includes(pathOf(target.repository))
}

/** Whether the ledger keeps its pushes. Those of a repository that the pipeline mirrors come before the mirror has them. */
function isHeard(target: Target, delivery: WebhookDelivery, foundBy: FoundBy): boolean {
  return (
    foundBy === 'hook' ||
    (foundBy === 'webhook' && pathsOn(target.repository_host, delivery).includes(pathOf(target.repository)))
  )
}

const pathOf = (repository: string) => locate(repository)?.path.toLowerCase()

const pathsOn = (host: string | null, { repositories }: WebhookDelivery) =>
  repositories.filter((address) => hostOf(address) === host).map(pathOf)

interface TakenOne {
  outcome: Outcome
  followUps: FollowUp[]
}

async function takeOnce(
  trx: Trx,
  ctx: Context,
  target: Target,
  heard: { event: Pushed | Deleted; foundBy: FoundBy },
  take: () => Promise<TakenOne>,
): Promise<TakenOne> {
  const once = await hear(trx, ctx, target, heard, async () => {
    const one = await take()
    return { one, buildNumber: builtIn(one.outcome) }
  })
  return once.isTaken ? once.taken.one : ignored(heard.event.name, once.reason)
}

/** Other events than those of pull requests are taken in any case. */
async function takePullOnce(
  trx: Trx,
  ctx: Context,
  target: Target,
  event: HostEvent,
  take: () => Promise<TakenOne>,
): Promise<TakenOne> {
  const at = ctx.now().toISOString()
  const number = await findReconciled(trx, target, event, at)
  if (number !== null)
    return ignored(refOf(event), `This commit was heard of before, and built as #${number}.`)
  const one = await take()
  const buildNumber = builtIn(one.outcome)
  if (buildNumber !== null) await keepPullBuild(trx, target, event, { foundBy: 'webhook', at, buildNumber })
  return one
}

/** The number of the build that was made. */
export const builtIn = ({ result, builds }: Outcome): number | null =>
  result === 'built' ? (builds[0]?.number ?? null) : null

interface Given {
  delivery: WebhookDelivery
  event: HostEvent
  foundBy: FoundBy
}

async function takeOne(
  trx: Trx,
  ctx: Context,
  target: Target,
  { delivery, event, foundBy }: Given,
): Promise<TakenOne> {
  const ref = refOf(event)
  const ofCheck = event.kind === 'commit' && event.check ? await takeCheck(trx, ctx, target, event) : null
  if (ofCheck?.kind === 'ignored') return ignored(ref, ofCheck.reason)
  if (ofCheck?.kind === 'built') return builtAgain(ctx, target, ref, ofCheck)
  const known = await keepAndFind(trx, ctx, target, event)
  if (event.kind === 'pull_request' && known.pull?.pull.isOpen === true) {
    await publishOnPull(trx, ctx, target, delivery, known.pull.pull.commit)
  }
  const rules = {
    host: hostOfType(delivery.host),
    settings: hostSettings(target.provider_settings),
    defaultBranch: target.default_branch,
    repository: target.repository,
    branchFilter: target.branch_configuration,
  }
  const decision = decide(rules, event, known)
  switch (decision.kind) {
    case 'ignore':
      if (decision.notNeeded !== null)
        await publishNotNeeded(trx, ctx, target, decision.notNeeded, decision.reason)
      return ignored(ref, decision.reason)
    case 'cancel':
      return cancelAll(trx, ctx, target, decision)
    case 'build':
      return build(trx, ctx, target, requestOf(target, delivery, foundBy, decision.wanted), decision.wanted)
  }
}

/** A push may have been built before its pull request was opened. */
async function publishOnPull(
  trx: Trx,
  ctx: Context,
  target: Target,
  { host }: WebhookDelivery,
  commit: string,
): Promise<void> {
  if (hostOfType(host).status?.ofPulls === undefined) return
  if (await sendAgain(trx, target, commit, ctx.now().toISOString())) await enqueueReports(trx, [target.id])
}

const ignored = (ref: string | null, reason: string): TakenOne => ({
  outcome: { ref, result: 'ignored', reason, builds: [] },
  followUps: [],
})

function refOf(event: HostEvent): string | null {
  switch (event.kind) {
    case 'pushed':
    case 'deleted':
      return event.name
    case 'pull_request':
      return event.pull?.branch ?? null
    case 'commit':
    case 'merge_group_destroyed':
      return event.branch
    case 'ignored':
      return null
  }
}

const builtAgain = (
  ctx: Context,
  target: Target,
  ref: string | null,
  { builds, followUps }: BuiltAgain,
): TakenOne => ({
  outcome: { ref, result: 'built', reason: null, builds: builds.map((one) => shown(ctx, target, one)) },
  followUps,
})

/** Stores pull requests and the repository's own commits, and finds what earlier deliveries stored. */
async function keepAndFind(trx: Trx, ctx: Context, target: Target, event: HostEvent): Promise<Known> {
  const at = ctx.now().toISOString()
  switch (event.kind) {
    case 'pushed': {
      await deliveries.keepCommit(trx, target, event.commit, at)
      const isBranch = event.ref === 'branch'
      const pull = isBranch ? await deliveries.findPullOfBranch(trx, target, event.name) : null
      return { pull, isOwnCommit: true }
    }
    case 'pull_request': {
      const { number, pull, reason } = event
      if (pull === null) {
        return { pull: await deliveries.findPull(trx, target, number), isOwnCommit: false }
      }
      if (!pull.isFork) await deliveries.keepCommit(trx, target, pull.commit, at)
      if (reason === 'closed' || !pull.isOpen) await deliveries.deletePull(trx, target, number)
      else await deliveries.keepPull(trx, target, number, pull, at)
      return { pull: { number, pull }, isOwnCommit: !pull.isFork }
    }
    case 'commit': {
      const { commit } = event
      if (event.commitIsOf === 'own_repository') {
        await deliveries.keepCommit(trx, target, commit, at)
        return { pull: null, isOwnCommit: true }
      }
      return {
        pull: await deliveries.findForkPullOfCommit(trx, target, commit),
        isOwnCommit: await deliveries.isOwnCommit(trx, target, commit),
      }
    }
    case 'deleted':
    case 'merge_group_destroyed':
    case 'ignored':
      return { pull: null, isOwnCommit: false }
  }
}

const requestOf = (
  target: Target,
  { event, action, env, isOfBot = false }: WebhookDelivery,
  foundBy: FoundBy,
  { label, mergeQueue, unlessBuilt: _unlessBuilt, ...wanted }: Wanted,
): BuildRequest => ({
  ...wanted,
  pipelineId: target.id,
  source: 'webhook',
  // Commits can carry any name and address, so their author is not the creator.
  creatorId: null,
  isMachine: isOfBot,
  env: { ...env, ...wanted.env },
  metaData: {},
  hostEvent: { event, action, label, mergeQueue },
  foundBy,
  cleanCheckout: false,
  // The rules have applied the pipeline's filter.
  ignoreBranchFilters: true,
  rebuiltFrom: null,
  triggeredFrom: null,
  dueAt: null,
})

async function build(
  trx: Trx,
  ctx: Context,
  target: Target,
  request: BuildRequest,
  { unlessBuilt, mergeQueue }: Wanted,
): Promise<TakenOne> {
  const { branch } = request
  const judged = mergeQueue === null ? refuseByCondition(target, request) : null
  if (judged !== null) {
    const { commit, commitOrigin, pullRequest, tag } = request
    if (judged.isNotNeeded && commitOrigin === 'own' && pullRequest?.fork !== true && tag === null) {
      const of = { commit: pullRequest?.head ?? commit, isForPullRequest: pullRequest !== null }
      await publishNotNeeded(trx, ctx, target, of, judged.reason)
    }
    return ignored(branch, judged.reason)
  }
  const refusal = await refuseBuilt(trx, target, request, unlessBuilt)
  if (refusal !== null) return ignored(branch, refusal)
  const created = await inSavepoint(
    trx,
    () => createBuild({ ...ctx, db: trx }, target.organization_id, request),
    ({ ok }) => ok,
  )
  if (!created.ok) return ignored(branch, describeRefusal(created))
  const made = { id: created.buildId, number: created.number }
  const outcome: Outcome = { ref: branch, result: 'built', reason: null, builds: [shown(ctx, target, made)] }
  return { outcome, followUps: created.followUps }
}

/** The condition sees the build that the request asks for; it has no number, and its id is not stored. */
function refuseByCondition(
  target: Target,
  request: BuildRequest,
): { reason: string; isNotNeeded: boolean } | null {
  const { filter_enabled: isOn, filter_condition: condition } = hostSettings(target.provider_settings)
  if (!isOn || !condition) return null
  const organization = { id: target.organization_id, slug: target.organization_slug }
  const build = requestedBuild(request, { organization, pipeline: target, creator: null }, target.env)
  const judged = evaluateCondition(condition, conditionFacts(build))
  if (!judged.ok)
    return { reason: `The filter condition cannot be decided: ${judged.message}.`, isNotNeeded: false }
  return judged.value
    ? null
    : { reason: `The filter condition does not hold: ${condition}`, isNotNeeded: true }
}

async function refuseBuilt(
  trx: Trx,
  target: Target,
  { commit, branch, pullRequest }: BuildRequest,
  unless: Wanted['unlessBuilt'],
): Promise<string | null> {
  if (unless === null) return null
  const place = unless === 'on_this_branch' ? branch : null
  const number = await deliveries.findBuilt(trx, target, pullRequest?.head ?? commit, place)
  return number === null ? null : `The commit was built before, as #${number}.`
}

async function cancelAll(
  trx: Trx,
  ctx: Context,
  target: Target,
  { branch, reason }: { branch: string; reason: string },
): Promise<TakenOne> {
  const followUps: FollowUp[] = []
  const builds: Outcome['builds'] = []
  for (const unfinished of await deliveries.listUnfinished(trx, target, branch)) {
    const event = { type: 'cancel_build', reason } as const
    const advanced = await advanceIn(trx, ctx, target.organization_id, unfinished.id, event)
    if (!advanced.ok) continue
    followUps.push(...advanced.followUps)
    builds.push(shown(ctx, target, unfinished))
  }
  if (builds.length === 0) return ignored(branch, `${reason}; none of its builds were unfinished.`)
  return { outcome: { ref: branch, result: 'canceled', reason: `${reason}.`, builds }, followUps }
}

const shown = (ctx: Context, target: Target, build: { id: string; number: number }) => ({
  ...build,
  web_url: `${ctx.config.url}/${target.organization_slug}/${target.slug}/builds/${build.number}`,
})

function summary(outcomes: readonly Outcome[]): string {
  const said = outcomes.slice(0, 10).map(({ ref, result, reason, builds }) => {
    const numbers = builds.map(({ number }) => `#${number}`).join(', ')
    if (result === 'built') return `Build ${numbers} of ${ref} was made.`
    return result === 'canceled' ? `${reason} Canceled ${numbers}.` : (reason ?? '')
  })
  const more = outcomes.length - said.length
  return [...said, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')
}
