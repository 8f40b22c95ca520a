// One attempt to deliver: opens the service, lets its sender do its work through the guarded client, and keeps what
// was said for the record.
import { createHash } from 'node:crypto'
import type { Context } from '../../context.ts'
import { OutboundError, type OutboundResponse } from '../../lib/outbound.ts'
import { lastRequestMs, type PendingDelivery } from './ordered-queues.ts'
import type { Means } from './transports.ts'
import { doorOf } from './oauth-session.ts'
import { isEventName } from '../names.ts'
import type { Message } from '../messages/message.ts'
import { openService, type SealedService } from './open-service.ts'
import { findSender } from '../providers/table.ts'
import { deliverTo } from '../outbox/targets.ts'
import { workspaceDoor } from './workspace-session.ts'
import {
  DeliveryFailed,
  type Delivery,
  type Send,
  type SentRequest,
  type Service,
  type ServiceMessage,
} from '../provider.ts'

export interface Exchange {
  request: {
    method: string
    url: string
    headers: Record<string, string>
    body_bytes: number
    body_sha256: string
  }
  response: { status: number; headers: Record<string, string>; body: string; is_cut: boolean } | null
  duration_ms: number
  error: string | null
}

export interface AttemptResult {
  startedAt: string
  durationMs: number
  /** null: it arrived. */
  error: string | null
  /** Another attempt would be of no use. */
  isFinal: boolean
  exchanges: Exchange[]
  /** What the provider keeps, by key; null: forgotten. */
  memories: Map<string, object | null>
}

export async function attemptDelivery(
  ctx: Context,
  means: Means,
  pending: PendingDelivery,
): Promise<AttemptResult> {
  const startedAt = ctx.now()
  const began = performance.now()
  const exchanges: Exchange[] = []
  const memories = new Map<string, object | null>()
  const end = (error: string | null, isFinal: boolean): AttemptResult => ({
    startedAt: startedAt.toISOString(),
    durationMs: Math.round(performance.now() - began),
    error,
    isFinal,
    exchanges,
    memories,
  })
  try {
    const send = soonEnough(recording(ctx.outbound.send, exchanges), began)
    await deliver(ctx, means, pending, startedAt, send, memories)
    return end(null, false)
  } catch (error) {
    if (error instanceof DeliveryFailed) return end(error.message, error.isFinal)
    if (error instanceof OutboundError) return end(error.message, error.kind === 'refused')
    ctx.log.error({ err: error, delivery_id: pending.id }, 'A delivery ended with an error of ours.')
    return end('The installation could not make this delivery; its log has the reason.', false)
  }
}

async function deliver(
  ctx: Context,
  means: Means,
  pending: PendingDelivery,
  now: Date,
  send: Send,
  memories: Map<string, object | null>,
): Promise<void> {
  const { message } = pending
  if (pending.target !== null) {
    const { id: deliveryId, organization_id: organizationId } = pending
    const workspace = (name: string | undefined) => workspaceDoor(ctx, organizationId, name, send)
    return deliverTo(pending.target, { id: deliveryId, organizationId, message, send, workspace }, means)
  }
  if (pending.service === null) {
    throw new DeliveryFailed('Nobody sends this kind of notification.', { isFinal: true })
  }
  const sender = findSender(pending.service.provider)
  if (sender === undefined) {
    throw new DeliveryFailed('An event log is read by whoever asks; nothing is sent.', { isFinal: true })
  }
  if (!isForService(message)) {
    throw new DeliveryFailed('Services are not told of steps.', { isFinal: true })
  }
  const service = openOnce(ctx, pending.service)
  const delivery: Delivery = {
    id: pending.id,
    attempt: pending.attempts + 1,
    message,
    service,
    now,
    send,
    db: ctx.db,
    cloudBus: means.cloudBus,
    door: () => doorOf(ctx, service, send),
    memory: {
      find: async (key) => {
        const kept = await ctx.db
          .selectFrom('notification_memories')
          .select('data')
          .where('organization_id', '=', service.organizationId)
          .where('service_id', '=', service.id)
          .where('key', '=', key)
          .executeTakeFirst()
        return kept?.data ?? null
      },
      keep: (key, kept) => void memories.set(key, kept),
    },
  }
  await sender.deliver(delivery)
}

const isForService = (message: Message): message is ServiceMessage => isEventName(message.event)

const opened = new WeakMap<SealedService, Service>()

/** Secrets are opened once for all deliveries that were read together. */
function openOnce(ctx: Context, sealed: SealedService): Service {
  const known = opened.get(sealed)
  if (known !== undefined) return known
  const service = openService(ctx.keys, sealed)
  opened.set(sealed, service)
  return service
}

/** No request begins so late that the lane's lease could run out before it ends. */
const soonEnough =
  (send: Send, began: number): Send =>
  async (request) => {
    if (performance.now() - began < lastRequestMs) return send(request)
    throw new DeliveryFailed('The receiver takes too long for all that has to be asked of it.')
  }

/** Sends as before, and notes down what was asked and answered. */
export const recording =
  (send: (request: SentRequest) => Promise<OutboundResponse>, exchanges: Exchange[]): Send =>
  async (request) => {
    const began = performance.now()
    const note = (response: OutboundResponse | null, error: string | null) =>
      void exchanges.push({
        request: shownRequest(request),
        response: response && shownResponse(response),
        duration_ms: Math.round(performance.now() - began),
        error,
      })
    try {
      const response = await send(request)
      note(response, null)
      return response
    } catch (error) {
      note(null, error instanceof Error ? error.message : String(error))
      throw error
    }
  }

function shownRequest({
  method,
  url,
  headers,
  body,
  secretHeaders = [],
  isSecretUrl,
}: SentRequest): Exchange['request'] {
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    secretHeaders.includes(name.toLowerCase()) ? 'XXXX' : value,
  ])
  return {
    method,
    url: isSecretUrl && URL.canParse(url) ? `${new URL(url).origin}/XXXX` : url,
    headers: Object.fromEntries(shown) as Record<string, string>,
    ...printOf(body ?? ''),
  }
}

const prints = new WeakMap<Uint8Array, Pick<Exchange['request'], 'body_bytes' | 'body_sha256'>>()

/** Of bytes that go to many, taken once. */
function printOf(body: string | Uint8Array): Pick<Exchange['request'], 'body_bytes' | 'body_sha256'> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const known = prints.get(bytes)
  if (known !== undefined) return known
  const print = {
    body_bytes: bytes.length,
    body_sha256: createHash('sha256').update(bytes).digest('hex'),
  }
  prints.set(bytes, print)
  return print
}

const shownBytes = 4096
const shownHeaders = 50

function shownResponse({
  status,
  headers,
  body,
  isCut,
}: OutboundResponse): NonNullable<Exchange['response']> {
  return {
    status,
    headers: Object.fromEntries(
      Object.entries(headers)
        .slice(0, shownHeaders)
        .map(([name, value]) => [storable(name).slice(0, 200), storable(value).slice(0, 1000)]),
    ),
    body: storable(body.subarray(0, shownBytes).toString('utf8')),
    is_cut: isCut || body.length > shownBytes,
  }
}

/** PostgreSQL takes no NUL. */
const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd')
