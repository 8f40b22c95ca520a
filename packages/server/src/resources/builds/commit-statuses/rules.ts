// Decides which statuses the commit of a build has. Pure.
import { hasTokens } from '@millrace/engine/labels/job-label.ts'
import { withoutEmoji } from '@millrace/engine/labels/show.ts'
import { fillStepLabel } from '@millrace/engine/labels/step-label.ts'
import { stepOutcomeOf, stepStateOf } from '@millrace/engine/outcome.ts'
import type { StepRow } from '@millrace/engine/rows.ts'
import { isFinalBuild, type BuildState } from '@millrace/engine/states.ts'
import type { BlockedState, NotifyEntry, StepDefinition } from '@millrace/engine/steps/types.ts'
import {
  checkPrefix,
  contextBelow,
  contextOf,
  contextOfSlug,
  longestContext,
  type Status,
  type StatusState,
} from '../../../source-hosts/status.ts'
import type { HostSettings } from '../../../source-hosts/settings.ts'

interface StatusBuild {
  number: number
  state: BuildState
  blockedState: BlockedState | null
  isForPullRequest: boolean
  isOfFork: boolean
  /** Its jobs have uploaded what the author of a fork wrote. */
  isUntrusted: boolean
  /** It is untrusted, and a step that such jobs uploaded has triggered it. */
  isChosenByFork: boolean
  pipelineSlug: string
  notify: readonly NotifyEntry[]
}

type DefinedStep = StepRow & { definition: StepDefinition }

/** Whether the condition of an entry of `notify` holds; `step` is null for an entry of the build. */
export type Holds = (entry: NotifyEntry, step: DefinedStep | null) => boolean

const mostSteps = 100

export function statusesOf(
  build: StatusBuild,
  steps: readonly DefinedStep[],
  settings: HostSettings,
  holds: Holds,
): Status[] {
  // No pipeline has such a slug.
  const base = contextOfSlug(build.isChosenByFork ? `${build.pipelineSlug} (fork)` : build.pipelineSlug)
  const context = withPullRequest(base, build.isForPullRequest, settings)
  const isSuccessWithoutSteps = settings.publish_status_when_not_built && !build.isOfFork
  const shown = (blockedAsPending: boolean) => buildStatus(build, { blockedAsPending, isSuccessWithoutSteps })
  const own = settings.publish_commit_status
    ? [{ context, ...shown(settings.publish_blocked_as_pending) }]
    : []
  const { stored, uploaded } = divided(build, steps)
  const perStep =
    settings.publish_commit_status && settings.publish_commit_status_per_step
      ? stepStatuses(context, [...stored.steps, ...uploaded.steps], settings, isSuccessWithoutSteps)
      : []
  const isUploaded = ({ step }: { step: DefinedStep }) => uploaded.steps.includes(step)
  const askedBy = (part: Part) => [
    ...buildNotices(build, part.notify, base, holds, shown),
    ...part.steps.flatMap((step) => stepNotices(step, base, holds)),
  ]
  const leftOut = isSuccessWithoutSteps ? leftOutNotices(build, steps, base, holds) : []
  const mayBeCustom = ({ context }: Status) =>
    !settings.prevent_custom_statuses_from_using_buildkite_prefix ||
    !/^(check: )?(buildkite|millrace)\//i.test(context)
  // A status that `notify` asks for replaces a usual one of the same context, unless its step is left out.
  const all = [
    ...leftOut.filter(mayBeCustom),
    ...own,
    ...perStep.filter((one) => !isUploaded(one)).map(({ status }) => status),
    ...askedBy(stored).filter(mayBeCustom),
  ]
  const ofFork = [
    ...perStep.filter(isUploaded).map(({ status }) => status),
    ...askedBy(uploaded).filter(mayBeCustom),
  ]
  const taken = new Set(ofFork.length === 0 ? [] : takenContexts(stored, base, settings))
  const confined = ofFork.map((status) => confine(status, base, taken))
  return [...new Map([...all, ...confined].map((status) => [status.context, status])).values()]
}

export const contextOfPipeline = (slug: string, isForPullRequest: boolean, settings: HostSettings): string =>
  withPullRequest(contextOfSlug(slug), isForPullRequest, settings)

const withPullRequest = (base: string, isForPullRequest: boolean, settings: HostSettings): string =>
  settings.separate_pull_request_statuses && isForPullRequest ? `${base}/pr` : base

interface Part {
  notify: readonly NotifyEntry[]
  steps: readonly DefinedStep[]
}

/** What the pipeline has itself, and what its jobs have uploaded, if that is not to be trusted. */
function divided(build: StatusBuild, steps: readonly DefinedStep[]): Record<'stored' | 'uploaded', Part> {
  const [all, none] = [
    { notify: build.notify, steps },
    { notify: [], steps: [] },
  ]
  if (build.isChosenByFork) return { stored: none, uploaded: all }
  if (!build.isUntrusted) return { stored: all, uploaded: none }
  const part = (isUploaded: boolean): Part => ({
    notify: build.notify.filter(({ fromFork }) => (fromFork === true) === isUploaded),
    steps: steps.filter(({ uploaderId }) => (uploaderId !== null) === isUploaded),
  })
  return { stored: part(false), uploaded: part(true) }
}

/** Also those that are not published yet, or not for this build: hosts keep what a fork would publish until then. */
function takenContexts(stored: Part, base: string, settings: HostSettings): string[] {
  const asked = [
    ...askedStatuses(stored.notify, base),
    ...stored.steps.flatMap((step) => askedByStep(step, base)),
  ]
  const perStep = [base, `${base}/pr`].flatMap((context) => [
    context,
    ...stepContexts(context, stored.steps, settings),
  ])
  return [...asked.map(({ status }) => contextOf(status)), ...perStep].map(comparable)
}

/** Hosts ignore the case, and take a check for a status of the same name. */
const comparable = (context: string): string => context.toLowerCase()

/** Says so where the status has another context than the fork has asked for. */
function confine<S extends Status>(status: S, base: string, taken: ReadonlySet<string>): S {
  const wanted = contextOf(status)
  const isCheck = status.context !== wanted
  let suffix = ''
  const withSuffix = () =>
    contextBelow(base, wanted)
      .slice(0, longestContext - suffix.length)
      .toWellFormed() + suffix
  while (taken.has(comparable(withSuffix()))) suffix += ' (fork)'
  const context = withSuffix()
  if (context === wanted) return status
  return {
    ...status,
    context: isCheck ? checkPrefix + context : context,
    description: `${status.description}. Asked for as “${wanted.slice(0, 60).toWellFormed()}”`,
  }
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

/** One for each command and trigger step that is part of the build. */
function stepStatuses(
  base: string,
  steps: readonly DefinedStep[],
  settings: HostSettings,
  showsLeftOut: boolean,
): Array<{ step: DefinedStep; status: Status }> {
  const shown = withOwnStatus(steps)
    .slice(0, mostSteps)
    .flatMap((step) => {
      const status = stepStatus(step) ?? (showsLeftOut && step.total > 0 ? notNeeded : null)
      return status === null ? [] : [{ step, status }]
    })
  const contexts = stepContexts(
    base,
    shown.map(({ step }) => step),
    settings,
  )
  return shown.map(({ step, status }, index) => ({
    step,
    status: { context: contexts[index] ?? '', ...status },
  }))
}

const withOwnStatus = (steps: readonly DefinedStep[]): DefinedStep[] =>
  steps.filter(({ kind }) => kind === 'command' || kind === 'trigger')

/** They are named by their labels, or by their keys if `use_step_key_as_commit_status` is on. */
function stepContexts(base: string, steps: readonly DefinedStep[], settings: HostSettings): string[] {
  const taken = new Map<string, number>()
  return withOwnStatus(steps).map((step) => {
    const name = nameOf(step, settings.use_step_key_as_commit_status)
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    const context = `${base}/${count === 1 ? name : `${name} (${count})`}`
    return context.slice(0, longestContext).toWellFormed()
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
  const label = definition.statusLabel === undefined ? definition.label : definition.statusLabel
  if (label === null) return ''
  return withoutEmoji(hasTokens(definition) ? fillStepLabel(label, []) : label)
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
  notify: readonly NotifyEntry[],
  base: string,
  holds: Holds,
  shown: (blockedAsPending: boolean) => Omit<Status, 'context'>,
): Status[] {
  const isReported = build.state === 'failing' || build.state === 'blocked' || isFinalBuild(build.state)
  if (!isReported) return []
  return askedStatuses(notify, base).flatMap(({ entry, blockedAsPending, status: named }) =>
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
