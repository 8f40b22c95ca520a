// Decides which statuses the commit of a build has. Pure.
import { hasTokens } from '@millrace/engine/labels/job-label.ts'
import { withoutEmoji } from '@millrace/engine/labels/show.ts'
import { fillStepLabel } from '@millrace/engine/labels/step-label.ts'
import { stepOutcomeOf, stepStateOf } from '@millrace/engine/outcome.ts'
import type { StepRow } from '@millrace/engine/rows.ts'
import { isFinalBuild, type BuildState } from '@millrace/engine/states.ts'
import type { BlockedState, NotifyEntry, StepDefinition } from '@millrace/engine/steps/types.ts'
import { checkPrefix, type Status, type StatusState } from '../../../source-hosts/status.ts'
import type { HostSettings } from '../../../source-hosts/settings.ts'

interface StatusBuild {
  number: number
  state: BuildState
  blockedState: BlockedState | null
  isForPullRequest: boolean
  isOfFork: boolean
  pipelineSlug: string
  notify: readonly NotifyEntry[]
}

type DefinedStep = StepRow & { definition: StepDefinition }

/** Whether the condition of an entry of `notify` holds; `step` is null for an entry of the build. */
export type Holds = (entry: NotifyEntry, step: DefinedStep | null) => boolean

const mostSteps = 100
const longestContext = 200

export function statusesOf(
  build: StatusBuild,
  steps: readonly DefinedStep[],
  settings: HostSettings,
  holds: Holds,
): Status[] {
  const base = contextOfPipeline(build.pipelineSlug, false, settings)
  const context = contextOfPipeline(build.pipelineSlug, build.isForPullRequest, settings)
  const isSuccessWithoutSteps = settings.publish_status_when_not_built && !build.isOfFork
  const shown = (blockedAsPending: boolean) => buildStatus(build, { blockedAsPending, isSuccessWithoutSteps })
  const own = settings.publish_commit_status
    ? [{ context, ...shown(settings.publish_blocked_as_pending) }]
    : []
  const perStep =
    settings.publish_commit_status && settings.publish_commit_status_per_step
      ? stepStatuses(context, steps, settings, isSuccessWithoutSteps)
      : []
  const asked = [
    ...buildNotices(build, base, holds, shown),
    ...steps.flatMap((step) => stepNotices(step, base, holds)),
  ]
  const leftOut = isSuccessWithoutSteps ? leftOutNotices(build, steps, base, holds) : []
  const mayBeCustom = ({ context }: Status) =>
    !settings.prevent_custom_statuses_from_using_buildkite_prefix ||
    !/^(check: )?(buildkite|millrace)\//i.test(context)
  // A status that `notify` asks for replaces a usual one of the same context, unless its step is left out.
  const all = [...leftOut.filter(mayBeCustom), ...own, ...perStep, ...asked.filter(mayBeCustom)]
  return [...new Map(all.map((status) => [status.context, status])).values()]
}

export function contextOfPipeline(slug: string, isForPullRequest: boolean, settings: HostSettings): string {
  const isSeparate = settings.separate_pull_request_statuses && isForPullRequest
  return isSeparate ? `millrace/${slug}/pr` : `millrace/${slug}`
}

interface StatusRules {
  blockedAsPending: boolean
  /** Whether a build none of whose steps applies is a success. */
  isSuccessWithoutSteps: boolean
}

function buildStatus(
  { number, state, blockedState }: StatusBuild,
  { blockedAsPending, isSuccessWithoutSteps }: StatusRules,
): Omit<Status, 'context'> {
  const status = (shown: StatusState, words: string) => ({
    state: shown,
    description: `Build #${number} ${words}`,
  })
  switch (state) {
    case 'creating':
    case 'scheduled':
      return status('pending', 'waits for an agent')
    case 'running':
      return status('running', 'is running')
    case 'failing':
      return status('failure', 'is failing')
    case 'passed':
      return status('success', 'passed')
    case 'failed':
      return status('failure', 'failed')
    case 'blocked': {
      const counts = { passed: 'success', failed: 'failure', running: 'pending' } as const
      return status(blockedAsPending ? 'pending' : counts[blockedState ?? 'passed'], 'is blocked')
    }
    case 'canceling':
    case 'canceled':
      return status('canceled', 'was canceled')
    case 'skipped':
      return status('skipped', 'was skipped')
    case 'not_run':
      return isSuccessWithoutSteps
        ? { state: 'success', description: `not needed: none of the steps of build #${number} applies` }
        : status('skipped', 'did not run')
  }
}

/** One for each command and trigger step, named by its label, or by its key if `use_step_key_as_commit_status` is on. */
function stepStatuses(
  base: string,
  steps: readonly DefinedStep[],
  settings: HostSettings,
  showsLeftOut: boolean,
): Status[] {
  const taken = new Map<string, number>()
  return steps
    .filter(({ kind }) => kind === 'command' || kind === 'trigger')
    .slice(0, mostSteps)
    .flatMap((step) => {
      const status = stepStatus(step) ?? (showsLeftOut && step.total > 0 ? notNeeded : null)
      if (status === null) return []
      const name = nameOf(step, settings.use_step_key_as_commit_status)
      const count = (taken.get(name) ?? 0) + 1
      taken.set(name, count)
      const context = `${base}/${count === 1 ? name : `${name} (${count})`}`
      return [{ context: context.slice(0, longestContext).toWellFormed(), ...status }]
    })
}

/** A required check of a step that `if`, `if_changed` or `branches` left out would block the merge for ever. */
const notNeeded = {
  state: 'success',
  description: 'not needed: the step does not apply to this build',
} as const

function nameOf({ key, definition }: DefinedStep, byKey: boolean): string {
  const command = definition.kind === 'command' ? definition.command?.split('\n')[0]?.trim() : null
  return (byKey && key) || labelIn(definition) || key || command || 'step'
}

/** Hosts compare contexts, so the name stays the same for any number of jobs. */
function labelIn(definition: StepDefinition): string {
  if (definition.label === null) return ''
  return withoutEmoji(hasTokens(definition) ? fillStepLabel(definition.label, []) : definition.label)
}

/** Null: the step is not part of this build. */
function stepStatus(step: DefinedStep): Omit<Status, 'context'> | null {
  const outcome = stepOutcomeOf(step)
  switch (stepStateOf(step)) {
    case 'ignored':
      return null
    case 'waiting_for_dependencies':
      return { state: 'pending', description: 'Waits for other steps' }
    case 'ready':
    case 'waiting_for_input':
      return { state: 'pending', description: 'Waits for an agent' }
    case 'running':
      return { state: 'running', description: 'Running' }
    case 'failing':
      return { state: 'failure', description: 'Failing' }
    case 'canceled':
      return { state: 'canceled', description: 'Canceled' }
    case 'finished':
      if (outcome === 'passed') return { state: 'success', description: 'Passed' }
      if (outcome === 'soft_failed') return { state: 'success', description: 'Failed, and may' }
      if (outcome === 'neutral') return { state: 'skipped', description: 'Did not run' }
      return { state: 'failure', description: 'Failed' }
  }
}

/** Like other notifications, sent once the build is failing, blocked or finished. */
function buildNotices(
  build: StatusBuild,
  base: string,
  holds: Holds,
  shown: (blockedAsPending: boolean) => Omit<Status, 'context'>,
): Status[] {
  const isReported = build.state === 'failing' || build.state === 'blocked' || isFinalBuild(build.state)
  if (!isReported) return []
  return askedStatuses(build.notify, base).flatMap(({ entry, blockedAsPending, status: named }) =>
    holds(entry, null) ? [{ ...named, ...shown(blockedAsPending) }] : [],
  )
}

function stepNotices(step: DefinedStep, base: string, holds: Holds): Status[] {
  const status = stepStatus(step)
  if (status === null || status.state === 'pending' || status.state === 'running') return []
  return askedByStep(step, base).flatMap(({ entry, status: named }) =>
    holds(entry, step) ? [{ ...ofStep(named, step.id), ...status }] : [],
  )
}

function askedByStep(step: DefinedStep, base: string): AskedStatus[] {
  const { definition } = step
  const entries = definition.kind === 'command' || definition.kind === 'group' ? definition.notify : []
  return entries.length === 0 ? [] : askedStatuses(entries, `${base}/${nameOf(step, false)}`)
}

/** At the end of the build, because a step that is uploaded meanwhile may ask for the same context. */
function leftOutNotices(
  { state, notify }: StatusBuild,
  steps: readonly DefinedStep[],
  base: string,
  holds: Holds,
): Status[] {
  if (!isFinalBuild(state)) return []
  const isLeftOut = (step: DefinedStep) => stepStateOf(step) === 'ignored'
  const others = steps.filter((step) => !isLeftOut(step)).flatMap((step) => askedByStep(step, base))
  const taken = new Set([...askedStatuses(notify, base), ...others].map(({ status }) => status.context))
  return steps
    .filter((step) => isLeftOut(step) && step.total > 0)
    .flatMap((step) =>
      askedByStep(step, base).flatMap(({ entry, status: named }) =>
        holds(entry, step) && !taken.has(named.context) ? [{ ...ofStep(named, step.id), ...notNeeded }] : [],
      ),
    )
}

const ofStep = (named: AskedStatus['status'], stepId: string): AskedStatus['status'] =>
  named.output === undefined ? named : { ...named, output: { ...named.output, step_id: stepId } }

interface AskedStatus {
  entry: NotifyEntry
  blockedAsPending: boolean
  status: Pick<Status, 'context' | 'output'>
}

/** The statuses and checks in `notify`; `usual` is the name of those without one. */
function askedStatuses(notify: readonly NotifyEntry[], usual: string): AskedStatus[] {
  return notify.flatMap((entry): AskedStatus[] => {
    const { service, settings } = entry
    const given =
      typeof settings === 'object' && settings !== null ? (settings as Record<string, unknown>) : {}
    if (service === 'github_commit_status') {
      const blockedAsPending = given['blocked_builds_as_pending'] === true
      return [{ entry, blockedAsPending, status: { context: named(given['context'], usual) } }]
    }
    if (service !== 'github_check') return []
    const output = typeof given['output'] === 'object' && given['output'] !== null ? given['output'] : {}
    const context = checkPrefix + named(given['name'], usual)
    return [{ entry, blockedAsPending: false, status: { context, output } }]
  })
}

const named = (name: unknown, usual: string): string =>
  (typeof name === 'string' && name.trim() !== '' ? name.trim() : usual)
    .slice(0, longestContext)
    .toWellFormed()
