// Makes the jobs of one step.

import { fillLabel } from '../labels/job-label.ts'
import type { JobKind, JobPolicy, JobRow } from '../rows.ts'
import type { CommandStep, LeafStep, ManualStep, SoftFail, TriggerStep } from '../steps/types.ts'
import type { JobWork, ParallelPosition, ScriptWork, TriggerWork } from '../work.ts'
import { combinationsOf } from '../steps/attributes/combinations.ts'
import { fillMatrix, matrixOf } from './matrix.ts'
import { parallelPositions } from './parallelism.ts'
import type { PlacedLeaf } from './placing.ts'

export interface NewJob {
  row: JobRow
  /** A retry has the work of the job it replaces. */
  work: JobWork | { kind: 'copy'; of: string }
}

interface JobContext {
  mint: () => string
  at: string
  scheduledAt: string
}

interface JobTemplate {
  kind: JobKind
  work: JobWork
  softFail: SoftFail
  broken: string | null
}

export function jobsOf(
  leaf: PlacedLeaf,
  context: JobContext,
): { ok: true; jobs: NewJob[] } | { ok: false; message: string } {
  const templates = templatesOf(leaf.step)
  if (!templates.ok) return templates
  const jobs = templates.templates.map((template, slot) => {
    const reason = leaf.ignored ?? template.broken
    return { row: rowOf(leaf, template, slot, reason, context), work: template.work }
  })
  return { ok: true, jobs }
}

function templatesOf(
  step: LeafStep,
): { ok: true; templates: JobTemplate[] } | { ok: false; message: string } {
  switch (step.kind) {
    case 'command':
      return step.matrix === null
        ? { ok: true, templates: parallelTemplates(step) }
        : matrixTemplates(step, step.matrix)
    case 'trigger':
      return {
        ok: true,
        templates: parallelPositions(step.parallelism).map((parallel) => triggerTemplate(step, parallel)),
      }
    case 'wait':
      return { ok: true, templates: [plainTemplate('waiter', { kind: 'waiter', label: step.label })] }
    case 'block':
    case 'input':
      return { ok: true, templates: [plainTemplate('manual', manualWork(step))] }
  }
}

function parallelTemplates(step: CommandStep): JobTemplate[] {
  return parallelPositions(step.parallelism).map((parallel) => ({
    kind: 'script',
    work: { ...scriptWork(step), label: fillLabel(step.label, parallel), parallel },
    softFail: step.softFail,
    broken: null,
  }))
}

function matrixTemplates(
  step: CommandStep,
  matrix: NonNullable<CommandStep['matrix']>,
): { ok: true; templates: JobTemplate[] } | { ok: false; message: string } {
  const templates: JobTemplate[] = []
  for (const combination of combinationsOf(matrix)) {
    const values = matrixOf(matrix, combination)
    const words = fillMatrix(step, values)
    if (!words.ok) return { ok: false, message: `${words.token} names no dimension of the matrix` }
    templates.push({
      kind: 'script',
      work: { ...scriptWork(step), ...words.filled, matrix: values },
      softFail: combination.softFail ?? step.softFail,
      broken: combination.skip === false ? null : combination.skip,
    })
  }
  return { ok: true, templates }
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
    ...(step.testResults === undefined ? {} : { testResults: step.testResults }),
    timeoutMinutes: step.timeoutMinutes,
  }
}

function triggerTemplate(step: TriggerStep, parallel: ParallelPosition | null): JobTemplate {
  const positionEnv: Record<string, string> =
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
    env: { ...step.build.env, ...positionEnv },
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

function plainTemplate(kind: JobKind, work: JobWork): JobTemplate {
  return { kind, work, softFail: false, broken: null }
}

function rowOf(
  leaf: PlacedLeaf,
  template: JobTemplate,
  slot: number,
  broken: string | null,
  context: JobContext,
): JobRow {
  const { step } = leaf
  return {
    id: context.mint(),
    stepId: leaf.id,
    kind: template.kind,
    state: broken === null ? 'pending' : 'broken',
    slot,
    policy: policyOf(step, template.softFail),
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
    createdAt: context.at,
    scheduledAt: context.scheduledAt,
    runnableAt: null,
    startedAt: null,
    finishedAt: broken === null ? null : context.at,
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
