// What pipelines ask for themselves: the entries of `notify` of a whole build. Decides which of them hold; the sending
// is done like that of services.
import { sql } from 'kysely'
import { v5 } from 'uuid'
import { evaluateCondition } from '@millrace/engine/conditions/evaluate.ts'
import type { NotifyEntry } from '@millrace/engine/steps/types.ts'
import type { Trx } from '../db/pool.ts'
import type { EventOccasion } from './occasions.ts'
import type { Snapshots } from './snapshots.ts'
import type { Target } from './targets.ts'

export interface Asked {
  occasion: EventOccasion
  targets: Target[]
}

/** Names an owner of lanes: deliveries to one address of one organization. */
export const ownerOf = (orgId: string, { kind, to }: Target): string => v5(`${kind} ${to}`, orgId)

/** Of which happenings each service tells. */
const tells: Readonly<Record<string, (occasion: EventOccasion) => boolean>> = {
  email: ({ event, states }) =>
    event === 'build.failing' || (event === 'build.finished' && !states.includes('build_blocked')),
  webhook: ({ event }) => ['build.scheduled', 'build.running', 'build.finished'].includes(event),
}

export async function findAsked(
  trx: Trx,
  snapshots: Snapshots,
  occasions: readonly EventOccasion[],
): Promise<Asked[]> {
  const possible = occasions.filter(
    (occasion) => occasion.row.build_id !== null && Object.values(tells).some((tellsOf) => tellsOf(occasion)),
  )
  const entries = await listEntries(trx, possible)
  if (entries.size === 0) return []
  const asked = possible.flatMap((occasion) => {
    const { notify = [], verdictBefore = null } = entries.get(occasion.row.id) ?? {}
    const wanted = notify.filter(({ service }) => tells[service]?.(occasion) ?? false)
    return wanted.length === 0 ? [] : [{ occasion, wanted, verdictBefore }]
  })
  const conditional = asked.filter(({ wanted }) => wanted.some(({ condition }) => condition !== null))
  const facts = await snapshots.facts(
    trx,
    conditional.flatMap(({ occasion: { row } }) =>
      row.build_id === null ? [] : [{ orgId: row.organization_id, buildId: row.build_id }],
    ),
  )
  return asked.flatMap(({ occasion, wanted, verdictBefore }) => {
    const holds = ({ condition }: NotifyEntry) => {
      if (condition === null) return true
      const known = facts.get(occasion.row.build_id ?? '')
      if (known === undefined) return false
      const outcome = evaluateCondition(condition, asOf(known, occasion, verdictBefore))
      // One that cannot be decided was warned of when the pipeline was read.
      return outcome.ok && outcome.value
    }
    const targets = wanted.filter(holds).flatMap(targetOf)
    return targets.length === 0 ? [] : [{ occasion, targets }]
  })
}

type Facts = Parameters<typeof evaluateCondition>[1]

function asOf(facts: Facts, { row }: EventOccasion, before: string | null): Facts {
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

function targetOf({ service, settings }: NotifyEntry): Target[] {
  if (typeof settings !== 'string') return []
  return service === 'email' || service === 'webhook' ? [{ kind: service, to: settings.trim() }] : []
}

interface Entries {
  notify: readonly NotifyEntry[]
  /** Of the newest earlier build of the branch that passed or failed. */
  verdictBefore: string | null
}

/** By event; without builds that ask for nothing. */
async function listEntries(trx: Trx, occasions: readonly EventOccasion[]): Promise<Map<number, Entries>> {
  if (occasions.length === 0) return new Map()
  const rows = occasions.map(({ row }) => row)
  const { rows: found } = await sql<Entries & { event_id: number }>`
    select w.event_id, b.notify, earlier.state as "verdictBefore"
    from unnest(${rows.map(({ id }) => id)}::bigint[], ${rows.map((row) => row.organization_id)}::uuid[],
      ${rows.map((row) => row.build_id)}::uuid[]) as w (event_id, organization_id, build_id)
    join builds b on b.id = w.build_id and b.organization_id = w.organization_id and b.notify <> '[]'
    left join lateral (
      select p.state from builds p
      where p.pipeline_id = b.pipeline_id and p.branch = b.branch and p.created_at <= b.created_at
        and p.number < b.number and p.state in ('passed', 'failed')
      order by p.created_at desc, p.id desc limit 1
    ) earlier on true`.execute(trx)
  return new Map(found.map(({ event_id: id, ...entries }) => [id, entries]))
}
