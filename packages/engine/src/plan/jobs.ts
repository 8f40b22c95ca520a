// Makes the jobs of one step.

import type { JobKind, JobPolicy, JobRow } from '../rows.ts'
import type { CommandStep, LeafStep, ManualStep, SoftFail, TriggerStep } from '../steps/types.ts'
import type { JobWork, ParallelPlace, ScriptWork, TriggerWork } from '../work.ts'
import { fillLabel } from './labels.ts'
import { combinationsOf, fillMatrix, matrixOf } from './matrix.ts'
import { parallelPlaces } from './parallelism.ts'
import type { PlacedLeaf } from './placing.ts'

export interface NewJob {
  row: JobRow
  /** A retry has the work of the job it replaces. */
  work: JobWork | { kind: 'copy'; of: string }
}

interface JobBirth {
  mint: () => string
  at: string
  scheduledAt: string
}

interface Cast {
  kind: JobKind
  work: JobWork
  softFail: SoftFail
  broken: string | null
}

export function jobsOf(
  leaf: PlacedLeaf,
  birth: JobBirth,
): { ok: true; jobs: NewJob[] } | { ok: false; message: string } {
  const casts = castsOf(leaf.step)
  if (!casts.ok) return casts
  const jobs = casts.casts.map((cast, slot) => {
    const reason = leaf.ignored ?? cast.broken
    return { row: rowOf(leaf, cast, slot, reason, birth), work: cast.work }
  })
  return { ok: true, jobs }
}

function castsOf(step: LeafStep): { ok: true; casts: Cast[] } | { ok: false; message: string } {
  switch (step.kind) {
    case 'command':
      return step.matrix === null ? { ok: true, casts: parallelCasts(step) } : matrixCasts(step, step.matrix)
    case 'trigger':
      return { ok: true, casts: parallelPlaces(step.parallelism).map((place) => triggerCast(step, place)) }
    case 'wait':
      return { ok: true, casts: [plainCast('waiter', { kind: 'waiter', label: step.label })] }
    case 'block':
    case 'input':
      return { ok: true, casts: [plainCast('manual', manualWork(step))] }
  }
}

function parallelCasts(step: CommandStep): Cast[] {
  return parallelPlaces(step.parallelism).map((parallel) => ({
    kind: 'script',
    work: { ...scriptWork(step), label: fillLabel(step.label, parallel), parallel },
    softFail: step.softFail,
    broken: null,
  }))
}

function matrixCasts(
  step: CommandStep,
  matrix: NonNullable<CommandStep['matrix']>,
): { ok: true; casts: Cast[] } | { ok: false; message: string } {
  const casts: Cast[] = []
  for (const combination of combinationsOf(matrix)) {
    const values = matrixOf(matrix, combination)
    const words = fillMatrix(step, values)
    if (!words.ok) return { ok: false, message: `${words.token} names no dimension of the matrix` }
    casts.push({
      kind: 'script',
      work: { ...scriptWork(step), ...words.filled, matrix: values },
      softFail: combination.softFail ?? step.softFail,
      broken: combination.skip === false ? null : combination.skip,
    })
  }
  return { ok: true, casts }
}

function scriptWork(step: CommandStep): ScriptWork {
  return {
    kind: 'script',
    label: step.label,
    command: step.command,
    agents: step.agents,
    artifactPaths: step.artifactPaths,
    cache: step.cache,
    checkout: step.checkout,
    concurrency: step.concurrency,
    env: step.env,
    image: step.image,
    matrix: null,
    parallel: null,
    plugins: step.plugins,
    priority: step.priority,
    secrets: step.secrets,
    signature: step.signature,
    timeoutMinutes: step.timeoutMinutes,
  }
}

function triggerCast(step: TriggerStep, parallel: ParallelPlace | null): Cast {
  const places: Record<string, string> =
    parallel === null
      ? {}
      : {
          BUILDKITE_PARALLEL_JOB: String(parallel.index),
          BUILDKITE_PARALLEL_JOB_COUNT: String(parallel.total),
        }
  const work: TriggerWork = {
    kind: 'trigger',
    label: fillLabel(step.label, parallel),
    pipeline: step.pipeline,
    message: step.build.message ?? step.label,
    commit: step.build.commit,
    branch: step.build.branch,
    env: { ...step.build.env, ...places },
    metaData: step.build.metaData,
    async: step.async,
    parallel,
  }
  return { kind: 'trigger', work, softFail: step.softFail, broken: null }
}

function manualWork(step: ManualStep): JobWork {
  return {
    kind: 'manual',
    label: step.label,
    prompt: step.prompt,
    submit: step.submit,
    fields: step.fields,
    blockedState: step.blockedState,
    allowedTeams: step.allowedTeams,
  }
}

function plainCast(kind: JobKind, work: JobWork): Cast {
  return { kind, work, softFail: false, broken: null }
}

function rowOf(leaf: PlacedLeaf, cast: Cast, slot: number, broken: string | null, birth: JobBirth): JobRow {
  const { step } = leaf
  return {
    id: birth.mint(),
    stepId: leaf.id,
    kind: cast.kind,
    state: broken === null ? 'pending' : 'broken',
    slot,
    policy: policyOf(step, cast.softFail),
    concurrencyGroup: step.kind === 'command' ? (step.concurrency?.group ?? null) : null,
    failFast: step.kind === 'command' && step.cancelOnBuildFailing,
    blockedState: step.kind === 'block' || step.kind === 'input' ? step.blockedState : null,
    unblockable: false,
    softFailed: false,
    cutShort: false,
    reason: broken,
    exitStatus: null,
    signal: null,
    signalReason: null,
    promisedExitStatus: null,
    promisedAt: null,
    promisedHard: false,
    retriedInJobId: null,
    retryType: null,
    retrySourceJobId: null,
    retrySourceType: null,
    retriesCount: 0,
    ruleUses: step.kind === 'command' ? step.retry.automatic.map(() => 0) : [],
    triggeredBuildId: null,
    unblockedBy: null,
    unblockedAt: null,
    createdAt: birth.at,
    scheduledAt: birth.scheduledAt,
    runnableAt: null,
    startedAt: null,
    finishedAt: broken === null ? null : birth.at,
  }
}

const NO_RETRY = {
  automatic: [],
  manual: { allowed: false, permitOnPassed: false, reason: null },
} as const

function policyOf(step: LeafStep, softFail: SoftFail): JobPolicy {
  const isManual = step.kind === 'block' || step.kind === 'input'
  return {
    softFail,
    retry: retryOf(step),
    async: step.kind === 'trigger' && step.async,
    fields: isManual ? step.fields : [],
  }
}

// A trigger step cannot say anything about retries; a person may always ask for another child build.
function retryOf(step: LeafStep): JobPolicy['retry'] {
  if (step.kind === 'command') return step.retry
  return step.kind === 'trigger' ? { ...NO_RETRY, manual: { ...NO_RETRY.manual, allowed: true } } : NO_RETRY
}
