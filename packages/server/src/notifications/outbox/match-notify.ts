// Finds what pipelines publish themselves: the entries of `notify` of builds and steps whose conditions hold. Commit statuses
// and checks are published elsewhere.
import { sql } from 'kysely'
import { v5 } from 'uuid'
import { evaluateCondition } from '@millrace/engine/conditions/evaluate.ts'
import type { NotifyEntry } from '@millrace/engine/steps/types.ts'
import type { Trx } from '../../db/pool.ts'
import { isPreflight } from '../../db/preflight.ts'
import type { Snapshots } from '../messages/snapshots.ts'
import { isStepEventName } from '../names.ts'
import { stepAsOf } from './as-of.ts'
import { earlierVerdict } from './match-services.ts'
import { targetsOf, type Target } from './targets.ts'
import { keyOf, type EventTrigger } from './triggers.ts'

/** The id of a recipient without a service: one address within one organization. */
export const recipientOf = (orgId: string, { kind, to }: Target): string => v5(`${kind} ${to}`, orgId)

type Wants = (trigger: EventTrigger) => boolean

const isStep: Wants = ({ event }) => isStepEventName(event)
const isEnd: Wants = ({ event, states }) => event === 'build.finished' && !states.includes('build_blocked')
const isFailingOrEnd: Wants = (trigger) => trigger.event === 'build.failing' || isEnd(trigger)
/** Includes blocked builds, which are published as finished. */
const isProgress: Wants = ({ event }) =>
  ['build.scheduled', 'build.running', 'build.finished'].includes(event)

/** The events that each kind of entry publishes. Of steps, those below groups only may have mail, webhooks and pagers. */
const wants: Readonly<Record<string, Wants>> = {
  email: (trigger) => isStep(trigger) || isFailingOrEnd(trigger),
  slack: (trigger) => isStep(trigger) || isFailingOrEnd(trigger),
  webhook: (trigger) => isStep(trigger) || isProgress(trigger),
  basecamp_campfire: (trigger) => isStep(trigger) || isProgress(trigger) || trigger.event === 'build.skipped',
  pagerduty_change_event: (trigger) => trigger.event === 'step.finished' || isEnd(trigger),
}

export async function matchNotify(
  trx: Trx,
  snapshots: Snapshots,
  triggers: readonly EventTrigger[],
): Promise<Array<{ trigger: EventTrigger; target: Target }>> {
  const possible = triggers.filter(
    (trigger) => trigger.row.build_id !== null && Object.values(wants).some((isWanted) => isWanted(trigger)),
  )
  const buildEntries = await listEntries(
    trx,
    possible.filter((trigger) => !isStep(trigger)),
  )
  const entries = new Map([
    ...buildEntries,
    ...(await listStepEntries(trx, snapshots, possible.filter(isStep))),
  ])
  const wanted = possible.flatMap((trigger) => {
    const found = entries.get(keyOf(trigger))
    const notify = found?.notify.filter(({ service }) => wants[service]?.(trigger) ?? false) ?? []
    return found === undefined || notify.length === 0 ? [] : [{ trigger, notify, withOwn: found.withOwn }]
  })
  const preflights = await findPreflights(
    trx,
    wanted.map(({ trigger }) => trigger),
  )
  const conditional = wanted.filter(({ notify }) => notify.some(({ condition }) => condition !== null))
  const facts = await snapshots.facts(
    trx,
    conditional.flatMap(({ trigger: { row } }) =>
      row.build_id === null ? [] : [{ orgId: row.organization_id, buildId: row.build_id }],
    ),
  )
  return wanted.flatMap(({ trigger, notify, withOwn }) => {
    const isOfPreflight = preflights.has(trigger.row.build_id ?? '')
    const holds = ({ service, condition }: NotifyEntry) => {
      if (isOfPreflight && service !== 'webhook') return false
      if (condition === null) return true
      const build = facts.get(trigger.row.build_id ?? '')
      if (build === undefined) return false
      const outcome = evaluateCondition(condition, withOwn(build))
      // For a condition that cannot be evaluated, the upload of the pipeline has shown a warning.
      return outcome.ok && outcome.value
    }
    return notify
      .filter(holds)
      .flatMap(targetsOf)
      .map((target) => ({ trigger, target }))
  })
}

/** As with services, only webhooks are told of a work tree that is not committed. */
async function findPreflights(trx: Trx, triggers: readonly EventTrigger[]): Promise<Set<string>> {
  if (triggers.length === 0) return new Set()
  const orgIds = [...new Set(triggers.map(({ row }) => row.organization_id))]
  const buildIds = [...new Set(triggers.map(({ row }) => row.build_id))]
  const { rows } = await sql<{ id: string }>`
    select b.id from builds b
    where b.organization_id = any (${orgIds}::uuid[]) and b.id = any (${buildIds}::uuid[]) and ${isPreflight}`.execute(
    trx,
  )
  return new Set(rows.map(({ id }) => id))
}

type Facts = Parameters<typeof evaluateCondition>[1]

interface Entries {
  notify: readonly NotifyEntry[]
  /** Adds the facts that only the conditions of these entries know. */
  withOwn(build: Facts): Facts
}

function buildAsOf(facts: Facts, { row }: EventTrigger, before: string | null): Facts {
  const { to, blocked_state: blockedState } = row.data
  return {
    ...facts,
    build: {
      ...facts.build,
      state: to ?? facts.build.state,
      blockedState: blockedState ?? null,
      fixed: to === 'passed' && before === 'failed',
    },
    pipeline: {
      ...facts.pipeline,
      startedPassing: to === 'passed' && before === 'failed',
      startedFailing: to === 'failed' && before === 'passed',
    },
  }
}

/** The entries of builds, by trigger. */
async function listEntries(trx: Trx, triggers: readonly EventTrigger[]): Promise<Map<string, Entries>> {
  if (triggers.length === 0) return new Map()
  const rows = triggers.map(({ row }) => row)
  const { rows: found } = await sql<{ event_id: number; notify: NotifyEntry[]; before: string | null }>`
    select w.event_id, b.notify, earlier.state as before
    from unnest(${rows.map(({ id }) => id)}::bigint[], ${rows.map((row) => row.organization_id)}::uuid[],
      ${rows.map((row) => row.build_id)}::uuid[]) as w (event_id, organization_id, build_id)
    join builds b on b.id = w.build_id and b.organization_id = w.organization_id and b.notify <> '[]'
    left join lateral (${earlierVerdict}) earlier on true`.execute(trx)
  const byEvent = new Map(found.map((entry) => [entry.event_id, entry]))
  return new Map(
    triggers.flatMap((trigger): Array<[string, Entries]> => {
      const entry = byEvent.get(trigger.row.id)
      if (entry === undefined) return []
      const withOwn = (build: Facts) => buildAsOf(build, trigger, entry.before)
      return [[keyOf(trigger), { notify: entry.notify, withOwn }]]
    }),
  )
}

/** The entries of steps, by trigger. */
async function listStepEntries(
  trx: Trx,
  snapshots: Snapshots,
  triggers: readonly EventTrigger[],
): Promise<Map<string, Entries>> {
  const ids = [...new Set(triggers.flatMap(({ row }) => row.data.step_id ?? []))]
  if (ids.length === 0) return new Map()
  const orgIds = [...new Set(triggers.map(({ row }) => row.organization_id))]
  const steps = await snapshots.steps(trx, orgIds, ids)
  return new Map(
    triggers.flatMap((trigger): Array<[string, Entries]> => {
      const found = steps.get(trigger.row.data.step_id ?? '')
      if (found === undefined) return []
      const { outcome, ...step } = stepAsOf(found.step, trigger.event)
      const facts = { ...step, type: found.type, outcome: outcome ?? '' }
      return [[keyOf(trigger), { notify: found.notify, withOwn: (build) => ({ ...build, step: facts }) }]]
    }),
  )
}
