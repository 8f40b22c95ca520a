// What pipelines ask for themselves: the entries of `notify` of a whole build, and of its steps. Decides which of them
// hold; the sending is done like that of services. Commit statuses and checks are told to source hosts elsewhere.
import { sql } from 'kysely'
import { v5 } from 'uuid'
import { evaluateCondition } from '@millrace/engine/conditions/evaluate.ts'
import type { NotifyEntry } from '@millrace/engine/steps/types.ts'
import type { Trx } from '../../db/pool.ts'
import { stepAsOf } from './as-of.ts'
import { isStepEventName } from '../names.ts'
import type { EventOccasion } from './triggers.ts'
import type { Snapshots } from '../messages/snapshots.ts'
import { targetsOf, type Target } from './targets.ts'

export interface Asked {
  occasion: EventOccasion
  targets: Target[]
}

/** Names an owner of lanes: deliveries to one address of one organization. */
export const ownerOf = (orgId: string, { kind, to }: Target): string => v5(`${kind} ${to}`, orgId)

type Tells = (occasion: EventOccasion) => boolean

const isStep: Tells = ({ event }) => isStepEventName(event)
const isEnd: Tells = ({ event, states }) => event === 'build.finished' && !states.includes('build_blocked')
const isFailingOrEnd: Tells = (occasion) => occasion.event === 'build.failing' || isEnd(occasion)
/** A build that is blocked has come to an end for the time being. */
const isCourse: Tells = ({ event }) => ['build.scheduled', 'build.running', 'build.finished'].includes(event)

/** Of which happenings each service tells. */
const tells: Readonly<Record<string, Tells>> = {
  email: isFailingOrEnd,
  slack: (occasion) => isStep(occasion) || isFailingOrEnd(occasion),
  webhook: isCourse,
  basecamp_campfire: (occasion) =>
    isStep(occasion) || isCourse(occasion) || occasion.event === 'build.skipped',
  pagerduty_change_event: isEnd,
}

export async function findAsked(
  trx: Trx,
  snapshots: Snapshots,
  occasions: readonly EventOccasion[],
): Promise<Asked[]> {
  const possible = occasions.filter(
    (occasion) => occasion.row.build_id !== null && Object.values(tells).some((tellsOf) => tellsOf(occasion)),
  )
  const entries = new Map([
    ...(await listEntries(
      trx,
      possible.filter((occasion) => !isStep(occasion)),
    )),
    ...(await listStepEntries(trx, snapshots, possible.filter(isStep))),
  ])
  if (entries.size === 0) return []
  const asked = possible.flatMap((occasion) => {
    const found = entries.get(keyOf(occasion))
    const wanted = found?.notify.filter(({ service }) => tells[service]?.(occasion) ?? false) ?? []
    return found === undefined || wanted.length === 0 ? [] : [{ occasion, wanted, known: found.known }]
  })
  const conditional = asked.filter(({ wanted }) => wanted.some(({ condition }) => condition !== null))
  const facts = await snapshots.facts(
    trx,
    conditional.flatMap(({ occasion: { row } }) =>
      row.build_id === null ? [] : [{ orgId: row.organization_id, buildId: row.build_id }],
    ),
  )
  return asked.flatMap(({ occasion, wanted, known }) => {
    const holds = ({ condition }: NotifyEntry) => {
      if (condition === null) return true
      const build = facts.get(occasion.row.build_id ?? '')
      if (build === undefined) return false
      const outcome = evaluateCondition(condition, known(build, occasion))
      // One that cannot be decided was warned of when the pipeline was read.
      return outcome.ok && outcome.value
    }
    const targets = wanted.filter(holds).flatMap(targetsOf)
    return targets.length === 0 ? [] : [{ occasion, targets }]
  })
}

type Facts = Parameters<typeof evaluateCondition>[1]

interface Entries {
  notify: readonly NotifyEntry[]
  /** What its conditions may know, beyond what is known of the build. */
  known(build: Facts, occasion: EventOccasion): Facts
}

/** An event of the outbox may be two things at once. */
const keyOf = ({ row, event }: EventOccasion) => `${row.id} ${event}`

function buildAsOf(facts: Facts, { row }: EventOccasion, before: string | null): Facts {
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

/** Those of builds; without builds that ask for nothing. */
async function listEntries(trx: Trx, occasions: readonly EventOccasion[]): Promise<Map<string, Entries>> {
  if (occasions.length === 0) return new Map()
  const rows = occasions.map(({ row }) => row)
  // The verdict before is that of the newest earlier build of the branch that passed or failed.
  const { rows: found } = await sql<{ event_id: number; notify: NotifyEntry[]; before: string | null }>`
    select w.event_id, b.notify, earlier.state as before
    from unnest(${rows.map(({ id }) => id)}::bigint[], ${rows.map((row) => row.organization_id)}::uuid[],
      ${rows.map((row) => row.build_id)}::uuid[]) as w (event_id, organization_id, build_id)
    join builds b on b.id = w.build_id and b.organization_id = w.organization_id and b.notify <> '[]'
    left join lateral (
      select p.state from builds p
      where p.pipeline_id = b.pipeline_id and p.branch = b.branch and p.created_at <= b.created_at
        and p.number < b.number and p.state in ('passed', 'failed')
      order by p.created_at desc, p.id desc limit 1
    ) earlier on true`.execute(trx)
  const byEvent = new Map(found.map((entry) => [entry.event_id, entry]))
  return new Map(
    occasions.flatMap((occasion): Array<[string, Entries]> => {
      const entry = byEvent.get(occasion.row.id)
      if (entry === undefined) return []
      const known: Entries['known'] = (build, at) => buildAsOf(build, at, entry.before)
      return [[keyOf(occasion), { notify: entry.notify, known }]]
    }),
  )
}

/** Those of steps. A step cannot know how its build will end. */
async function listStepEntries(
  trx: Trx,
  snapshots: Snapshots,
  occasions: readonly EventOccasion[],
): Promise<Map<string, Entries>> {
  const ids = [...new Set(occasions.flatMap(({ row }) => row.data.step_id ?? []))]
  if (ids.length === 0) return new Map()
  const orgIds = [...new Set(occasions.map(({ row }) => row.organization_id))]
  const steps = await snapshots.steps(trx, orgIds, ids)
  return new Map(
    occasions.flatMap((occasion): Array<[string, Entries]> => {
      const found = steps.get(occasion.row.data.step_id ?? '')
      if (found === undefined) return []
      const { outcome, ...step } = stepAsOf(found.step, occasion.event)
      const facts = { ...step, type: found.type, outcome: outcome ?? '' }
      return [[keyOf(occasion), { notify: found.notify, known: (build) => ({ ...build, step: facts }) }]]
    }),
  )
}
