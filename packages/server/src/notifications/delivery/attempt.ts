// One attempt to deliver: decrypts the service, lets its sender send, and records the requests and responses.
import { createHash } from 'node:crypto'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/pool.ts'
import { OutboundError, type OutboundResponse } from '../../lib/outbound.ts'
import type { Message } from '../messages/message.ts'
import { isAuditEventName, isEventName } from '../names.ts'
import {
  DeliveryFailed,
  type Send,
  type SentRequest,
  type Service,
  type ServiceMessage,
} from '../provider.ts'
import { findSender } from '../providers/table.ts'
import { deliverTo } from './deliver-to-target.ts'
import { openOAuthSession } from './oauth-session.ts'
import { openService } from './open-service.ts'
import { lastRequestMs, type PendingDelivery } from './ordered-queues.ts'
import type { Transports } from './transports.ts'
import { openWorkspaceSession } from './workspace-session.ts'

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

/** Data that the provider stores, by key; null deletes it. */
type StateChanges = Map<string, object | null>

export interface AttemptResult {
  startedAt: string
  durationMs: number
  /** null: delivered. */
  error: string | null
  /** Another attempt would fail too. */
  isFinal: boolean
  exchanges: Exchange[]
  stateChanges: StateChanges
}

export type Verdict = { kind: 'delivered' } | { kind: 'dead' } | { kind: 'retry'; at: string }

export interface Outcome {
  pending: PendingDelivery
  result: AttemptResult
  verdict: Verdict
  /** The new state of the queue's lease. */
  lease: 'kept' | 'renewed' | 'released'
}

export async function attemptDelivery(
  ctx: Context,
  transports: Transports,
  pending: PendingDelivery,
): Promise<AttemptResult> {
  const startedAt = ctx.now()
  const began = performance.now()
  const exchanges: Exchange[] = []
  const stateChanges: StateChanges = new Map()
  const end = (error: string | null, isFinal: boolean): AttemptResult => ({
    startedAt: startedAt.toISOString(),
    durationMs: Math.round(performance.now() - began),
    error,
    isFinal,
    exchanges,
    stateChanges,
  })
  try {
    const send = beforeLastRequest(recording(ctx.outbound.send, exchanges), began)
    await deliver(ctx, transports, pending, { now: startedAt, send, stateChanges })
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
  transports: Transports,
  pending: PendingDelivery,
  { now, send, stateChanges }: { now: Date; send: Send; stateChanges: StateChanges },
): Promise<void> {
  const { id, organization_id: organizationId, message } = pending
  if (pending.target !== null) {
    const workspace = (name?: string) => openWorkspaceSession(ctx, organizationId, name, send)
    return deliverTo(pending.target, { id, organizationId, message, send, workspace }, transports)
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
  const service = openService(ctx.keys, pending.service)
  return sender.deliver({
    id,
    attempt: pending.attempts + 1,
    message,
    service,
    now,
    send,
    db: ctx.db,
    cloudBus: transports.cloudBus,
    openSession: () => openOAuthSession(ctx, service, send),
    state: {
      find: (key) => findState(ctx.db, service, key),
      keep: (key, data) => void stateChanges.set(key, data),
    },
  })
}

const isForService = (message: Message): message is ServiceMessage =>
  isEventName(message.event) || isAuditEventName(message.event)

async function findState(db: Db, service: Service, key: string): Promise<unknown> {
  const row = await db
    .selectFrom('notification_provider_state')
    .select('data')
    .where('organization_id', '=', service.organizationId)
    .where('service_id', '=', service.id)
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.data ?? null
}

/** No request begins so late that the lease of the queue could end before the request does. */
const beforeLastRequest =
  (send: Send, began: number): Send =>
  async (request) => {
    if (performance.now() - began < lastRequestMs) return send(request)
    throw new DeliveryFailed('The receiver takes too long for all that has to be asked of it.')
  }

const recording =
  (send: (request: SentRequest) => Promise<OutboundResponse>, exchanges: Exchange[]): Send =>
  async (request) => {
    const began = performance.now()
    const record = (response: OutboundResponse | null, error: string | null) =>
      void exchanges.push({
        request: recordedRequest(request),
        response: response && recordedResponse(response),
        duration_ms: Math.round(performance.now() - began),
        error,
      })
    try {
      const response = await send(request)
      record(response, null)
      return response
    } catch (error) {
      record(null, error instanceof Error ? error.message : String(error))
      throw error
    }
  }

function recordedRequest(request: SentRequest): Exchange['request'] {
  const { method, url, headers, body, secretHeaders = [], isSecretUrl } = request
  const bytes = Buffer.from(body ?? '')
  return {
    method,
    url: isSecretUrl && URL.canParse(url) ? `${new URL(url).origin}/XXXX` : url,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        secretHeaders.includes(name.toLowerCase()) ? 'XXXX' : value,
      ]),
    ),
    body_bytes: bytes.length,
    body_sha256: createHash('sha256').update(bytes).digest('hex'),
  }
}

const recordedBytes = 4096
const recordedHeaders = 50

const recordedResponse = ({
  status,
  headers,
  body,
  isCut,
}: OutboundResponse): NonNullable<Exchange['response']> => ({
  status,
  headers: Object.fromEntries(
    Object.entries(headers)
      .slice(0, recordedHeaders)
      .map(([name, value]) => [storable(name).slice(0, 200), storable(value).slice(0, 1000)]),
  ),
  body: storable(body.subarray(0, recordedBytes).toString('utf8')),
  is_cut: isCut || body.length > recordedBytes,
})

/** PostgreSQL stores no NUL. */
const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd')
