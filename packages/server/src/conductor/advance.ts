// The only entry point for changes of a build: lock it, ask the engine, save its changes, append the events. No other
// code writes the state of a build or a job, except dispatch/assign.ts, which assigns jobs to agents and accepts them, and
// reserve.ts, which reserves jobs for a stack. Those two update only the rows of these jobs.
import { setImmediate } from 'node:timers/promises'
import { advance } from '@millrace/engine/advance.ts'
import type { Effect } from '@millrace/engine/advance/effects.ts'
import type { Changes, Patch } from '@millrace/engine/advance/changes.ts'
import type { BuildEvent } from '@millrace/engine/advance/events.ts'
import type { Answer } from '@millrace/engine/advance/needs.ts'
import type { Refusal } from '@millrace/engine/advance/refusal.ts'
import type { BuildRow } from '@millrace/engine/rows.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { defer, onCommit } from '../db/batch.ts'
import type { Statement } from '../db/statement.ts'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import { setMetaData } from './meta-data.ts'
import { appendEvents, appendReturned } from './outbox.ts'
import { countChanges } from './count-changes.ts'
import { fetchNeed, findInherited, lockBuild, type LockedBuild } from './load.ts'
import { saveChanges, saveCounts } from './save.ts'
import type { Inherited, Scope } from './scope.ts'
import { keepSuperseding } from './superseding.ts'
import { claimInside } from './dispatch/claim-inside.ts'
import type { Dispatcher, RunnableJob } from './dispatch/dispatcher.ts'
import { wakesOf } from './dispatch/wake.ts'
import { queueKey } from './insert-jobs.ts'

/** Work to do after the commit, each in a transaction of its own. */
export type FollowUp =
  | { kind: 'create_child'; organizationId: string; buildId: string; jobId: string }
  | { kind: 'cancel_child'; organizationId: string; childId: string }
  | { kind: 'report_to_parent'; organizationId: string; childId: string; jobId: string }
  | { kind: 'decide_slots'; organizationId: string; group: string; untrusted: boolean }
  | { kind: 'supersede'; organizationId: string; buildId: string }

export type Advanced =
  | {
      ok: true
      followUps: FollowUp[]
      newJobs: string[]
      /** After the event. */
      build: BuildRow
      /** The rows that were loaded with the build, after the event. */
      rows: Answer
    }
  | Refusal

const noBuild: Refusal = { ok: false, reason: 'not_found', message: 'No build found' }

/** The time is added under the lock, so that times in a build never run backwards. */
export type UntimedEvent<E extends BuildEvent = BuildEvent> = E extends BuildEvent ? Omit<E, 'at'> : never

export async function advanceIn(
  trx: Trx,
  ctx: Context,
  organizationId: string,
  buildId: string,
  event: UntimedEvent,
): Promise<Advanced> {
  const locked = await lockBuild(trx, organizationId, buildId, 'jobId' in event ? event.jobId : undefined)
  return locked === undefined ? noBuild : apply(trx, ctx, locked, event)
}

/** Larger changes let other requests run between their parts. */
const mostEffectsAtOnce = 500

/**
 * Runs an event on a build whose lock is held. The statements of `insertBuild` are saved before the engine's changes. With a
 * `dispatcher` a new job may be claimed at once; see `claimInside`.
 */
export async function apply(
  trx: Trx,
  ctx: Context,
  { scope, build, rows = {}, job, inherited }: LockedBuild,
  event: UntimedEvent,
  insertBuild: (after: BuildRow) => Statement[] = () => [],
  dispatcher: Dispatcher | null = null,
): Promise<Advanced> {
  const at = ctx.now().toISOString()
  const steps = advance(build, { ...event, at }, { mint: newId, rows })
  const jobsBefore = new Map(rows.jobs?.map((job) => [job.id, job]))
  let step = steps.next()
  while (!step.done) {
    const answer = await fetchNeed(trx, build.id, step.value)
    for (const job of answer.jobs ?? []) jobsBefore.set(job.id, job)
    if ((answer.jobs ?? []).length > mostEffectsAtOnce) await setImmediate()
    step = steps.next(answer)
  }
  const outcome = step.value
  if (!outcome.ok) return outcome
  const { changes, effects } = outcome
  const moves = effects.filter((effect) => effect.kind === 'job_state_changed')
  const after = { ...build, ...changes.build }
  const { timers } = ctx.config
  const runnable = effects.flatMap((effect) => (effect.kind === 'job_runnable' ? [effect.jobId] : []))
  const followUps = followUpsOf(scope, effects)
  const inheritedByJobs =
    changes.newJobs.length === 0 ? null : (inherited ?? (await findInherited(trx, scope, uploaderOf(event))))
  const pause = effects.length > mostEffectsAtOnce ? setImmediate : null
  await pause?.()
  const wakes = wakesOf(ctx.direct, { moves, known: job, runnable })
  await defer(trx, [
    ...insertBuild(after),
    ...effects.flatMap((effect) =>
      effect.kind === 'set_meta_data' ? setMetaData(scope, effect.values) : [],
    ),
    ...appendEvents(scope, at, effects, event.type === 'promise' ? (event.reason ?? null) : null),
    ...appendReturned(moves, at),
    ...followUps.flatMap((followUp) =>
      followUp.kind === 'supersede' ? [keepSuperseding(followUp.buildId, followUp.organizationId, at)] : [],
    ),
    ...wakes.beforeMoves,
  ])
  const saving = { scope, timers, at, buildBefore: build, moves, jobsBefore, inherited: inheritedByJobs }
  for (const part of saveChanges(changes, saving)) {
    await pause?.()
    await defer(trx, part)
  }
  await pause?.()
  const only = onlyRunnable(changes, runnable, inheritedByJobs)
  if (dispatcher !== null && only !== null) await claimInside(trx, ctx, dispatcher, only)
  await defer(trx, [...saveCounts(changes, saving), ...wakes.afterMoves])
  await onCommit(trx, () => {
    countChanges(ctx, effects, { at, jobsBefore, job })
    wakes.onCommit()
  })
  const patches = {
    jobs: new Map(changes.jobs.map((patch) => [patch.id, patch])),
    steps: new Map(changes.steps.map((patch) => [patch.id, patch])),
  }
  return {
    ok: true,
    followUps,
    newJobs: changes.newJobs.map(({ row }) => row.id),
    build: after,
    rows: {
      ...rows,
      ...(rows.jobs && { jobs: rows.jobs.map((job) => patched(job, patches.jobs)) }),
      ...(rows.steps && { steps: rows.steps.map((step) => patched(step, patches.steps)) }),
    },
  }
}

const uploaderOf = (event: UntimedEvent): string | null => (event.type === 'upload' ? event.jobId : null)

/** The new job of a queue that is the only runnable one. */
function onlyRunnable(
  { newJobs }: Changes,
  runnable: readonly string[],
  inherited: Inherited | null,
): RunnableJob | null {
  const work = runnable.length === 1 ? newJobs.find(({ row }) => row.id === runnable[0])?.work : undefined
  if (work?.kind !== 'script' || inherited === null || inherited.clusterId === null) return null
  const { clusterId, defaultQueueId } = inherited
  const rules = work.agents
  if (queueKey(rules) !== null) return { clusterId, queueId: null, rules }
  return defaultQueueId === null ? null : { clusterId, queueId: defaultQueueId, rules }
}

function patched<Row extends { id: string }>(row: Row, patches: ReadonlyMap<string, Patch<Row>>): Row {
  const patch = patches.get(row.id)
  return patch === undefined ? row : { ...row, ...patch.set }
}

export const advanceBuild = (
  ctx: Context,
  organizationId: string,
  buildId: string,
  event: UntimedEvent,
): Promise<Advanced> => inTransaction(ctx.db, (trx) => advanceIn(trx, ctx, organizationId, buildId, event))

/** Several events in a row. The first one that is refused is the answer. */
export async function advanceAll(
  trx: Trx,
  ctx: Context,
  organizationId: string,
  buildId: string,
  events: readonly UntimedEvent[],
): Promise<{ ok: true; followUps: FollowUp[] } | Refusal> {
  const followUps: FollowUp[] = []
  for (const event of events) {
    const advanced = await advanceIn(trx, ctx, organizationId, buildId, event)
    if (!advanced.ok) return advanced
    followUps.push(...advanced.followUps)
  }
  return { ok: true, followUps }
}

/** The events of a job that ends without an agent. */
export const withoutAgent = (jobId: string, exitStatus: number): UntimedEvent[] => [
  { type: 'assign', jobId },
  { type: 'accept', jobId },
  { type: 'start', jobId },
  { type: 'finish', jobId, exitStatus, signal: null, signalReason: exitStatus === 0 ? null : 'stack_error' },
]

function followUpsOf(scope: Scope, effects: readonly Effect[]): FollowUp[] {
  const { organizationId, buildId } = scope
  return effects.flatMap((effect): FollowUp[] => {
    switch (effect.kind) {
      case 'create_child_build':
        return [{ kind: 'create_child', organizationId, buildId, jobId: effect.jobId }]
      case 'cancel_child_build':
        return [{ kind: 'cancel_child', organizationId, childId: effect.buildId }]
      case 'concurrency_changed':
        return (scope.mayBeUntrusted ? [false, true] : [false]).map((untrusted) => ({
          kind: 'decide_slots',
          organizationId,
          group: effect.group,
          untrusted,
        }))
      case 'build_state_changed':
        return buildFollowUps(scope, effect)
      case 'job_state_changed':
      case 'job_unblockable_changed':
      case 'job_runnable':
      case 'cancel_on_agent':
      case 'set_meta_data':
      case 'notify':
        return []
    }
  })
}

function buildFollowUps(
  { organizationId, buildId, triggeredFromJobId, supersedes }: Scope,
  { from, to }: Extract<Effect, { kind: 'build_state_changed' }>,
): FollowUp[] {
  const followUps: FollowUp[] = []
  // A build looks for older builds of its branch when it is created and again when it starts.
  if (supersedes && (from === 'creating' || (from === 'scheduled' && to === 'running'))) {
    followUps.push({ kind: 'supersede', organizationId, buildId })
  }
  if (triggeredFromJobId !== null && from !== 'creating') {
    followUps.push({ kind: 'report_to_parent', organizationId, childId: buildId, jobId: triggeredFromJobId })
  }
  return followUps
}
