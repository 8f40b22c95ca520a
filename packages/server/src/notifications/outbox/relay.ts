// Carries events from the outbox to those who want to hear of them: decides who, draws what they will see, and
// writes both down with the cursor, in one transaction. Sends nothing.
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId } from '../../lib/ids.ts'
import { hasUnread, takeEvents } from './cursor.ts'
import { drawMessages } from '../messages/render.ts'
import { enqueue, type NewDelivery } from './enqueue.ts'
import { findAsked, ownerOf } from './match-notify.ts'
import { isForServices, occasionsOf, type EventOccasion, type ServiceOccasion } from './triggers.ts'
import { keepInLog } from './event-log.ts'
import { findSender } from '../providers/table.ts'
import {
  findBuildSettings,
  findFixed,
  isInScope,
  listListeners,
  wantsOccasion,
  type Listener,
  type Setting,
} from './match-services.ts'
import { branchLane, type Message } from '../messages/message.ts'
import type { Snapshots } from '../messages/snapshots.ts'
import type { Target } from './targets.ts'

const mostEvents = 500

interface Relayed {
  events: number
  deliveries: number
}

/** Reads until nothing is left. */
export async function relay(ctx: Context, snapshots: Snapshots): Promise<Relayed> {
  const all: Relayed = { events: 0, deliveries: 0 }
  while (await hasUnread(ctx.db)) {
    const some = await inTransaction(ctx.db, (trx) => relaySome(trx, ctx, snapshots))
    if (some === null) break
    all.events += some.events
    all.deliveries += some.deliveries
    // Nothing, although there is something: its transaction, or an older one, is still open.
    if (some.events === 0) break
  }
  return all
}

async function relaySome(trx: Trx, ctx: Context, snapshots: Snapshots): Promise<Relayed | null> {
  const events = await takeEvents(trx, mostEvents)
  if (events === null) return null
  const occasions = events.flatMap(occasionsOf)
  const told = await findAudience(trx, occasions.filter(isForServices))
  const asked = await findAsked(trx, snapshots, withTold(occasions, told))
  const drawn: EventOccasion[] = [...told, ...asked].map(({ occasion }) => occasion)
  const messages = await drawMessages(trx, snapshots, [...new Set(drawn)])
  const heard = told.flatMap(({ occasion, listeners }) => {
    const message = messages.get(occasion)
    return message === undefined ? [] : listeners.map((listener) => ({ listener, occasion, message }))
  })
  const deliveries = [
    ...heard.flatMap(({ listener, occasion, message }) =>
      isLog(listener) ? [] : [newDelivery(listener, occasion, message)],
    ),
    ...asked.flatMap(({ occasion, targets }) => targetDeliveries(occasion, targets, messages.get(occasion))),
  ]
  const entries = heard.flatMap(({ listener: { id, organization_id: orgId, provider }, message }) =>
    isLog({ provider }) ? [{ serviceId: id, organizationId: orgId, message }] : [],
  )
  const eventIds = new Map([...messages].map(([{ row }, { id }]) => [id, row.id]))
  await enqueue(trx, deliveries, ctx.now(), eventIds)
  const written = new Set(deliveries.map(({ message }) => message.id))
  await keepInLog(trx, entries, ctx.now(), written, eventIds)
  return { events: events.length, deliveries: deliveries.length }
}

/** Where services are told of the same, their occasion, which knows more. */
function withTold(occasions: readonly EventOccasion[], told: readonly Told[]): EventOccasion[] {
  const known = new Map(told.map(({ occasion }) => [`${occasion.row.id} ${occasion.event}`, occasion]))
  return occasions.map((occasion) => known.get(`${occasion.row.id} ${occasion.event}`) ?? occasion)
}

function targetDeliveries(
  { row }: EventOccasion,
  targets: readonly Target[],
  message: Message | undefined,
): NewDelivery[] {
  if (message === undefined) return []
  return targets.map((target) => ({
    id: newId(),
    message,
    organizationId: row.organization_id,
    serviceId: null,
    target,
    ownerId: ownerOf(row.organization_id, target),
    ...laneOf(target, row, message),
  }))
}

const isChat = ({ kind }: Target) => kind === 'slack' || kind === 'basecamp_campfire'

const laneOf = (target: Target, { id, build_id: buildId }: EventOccasion['row'], message: Message) =>
  isChat(target) && buildId !== null
    ? { lane: branchLane(message), buildId }
    : { lane: buildId ?? String(id) }

const isLog = ({ provider }: Pick<Listener, 'provider'>) => provider === 'event_log_api'

interface Told {
  occasion: ServiceOccasion
  listeners: Listener[]
}

async function findAudience(trx: Trx, occasions: readonly ServiceOccasion[]): Promise<Told[]> {
  const orgIds = [...new Set(occasions.map(({ row }) => row.organization_id))]
  const listeners = orgIds.length === 0 ? [] : await listListeners(trx, orgIds)
  if (listeners.length === 0) return []
  const heard = new Set(listeners.map((listener) => listener.organization_id))
  const whole = await withFixed(
    trx,
    occasions.filter(({ row }) => heard.has(row.organization_id)),
  )
  const wanted = whole
    .map((occasion) => ({ occasion, listeners: listeners.filter((one) => wantsOccasion(one, occasion)) }))
    .filter((told) => told.listeners.length > 0)
  const buildIds = [...new Set(wanted.flatMap(({ occasion }) => occasion.row.build_id ?? []))]
  const settings = await findBuildSettings(trx, [...heard], buildIds)
  return wanted
    .map(({ occasion, listeners: willing }) => {
      const setting = settingOf(occasion, settings)
      return { occasion, listeners: willing.filter((one) => setting !== null && isInScope(one, setting)) }
    })
    .filter((told) => told.listeners.length > 0)
}

async function withFixed(trx: Trx, occasions: readonly ServiceOccasion[]): Promise<ServiceOccasion[]> {
  const passed = occasions.flatMap(({ row, states }) =>
    states.includes('build_passed') && row.build_id !== null
      ? [{ eventId: row.id, buildId: row.build_id }]
      : [],
  )
  const fixed = await findFixed(trx, passed)
  return occasions.map((occasion) =>
    occasion.states.includes('build_passed') && fixed.has(occasion.row.id)
      ? { ...occasion, states: [...occasion.states, 'build_fixed'] }
      : occasion,
  )
}

/** null: the build is gone. */
function settingOf({ row }: EventOccasion, builds: ReadonlyMap<string, Setting>): Setting | null {
  if (row.build_id !== null) return builds.get(row.build_id) ?? null
  return {
    branch: null,
    pipelineId: null,
    clusterId: row.data.cluster_id ?? null,
    teamIds: [],
  }
}

function newDelivery(listener: Listener, { row }: EventOccasion, message: Message): NewDelivery {
  const lane = findSender(listener.provider)?.lane?.(message)
  const { agent_id: agentId, cluster_token_id: tokenId } = row.data
  return {
    id: newId(),
    message,
    organizationId: listener.organization_id,
    serviceId: listener.id,
    lane: lane ?? row.build_id ?? agentId ?? tokenId ?? String(row.id),
  }
}
