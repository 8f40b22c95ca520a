// What a provider is. Its file holds all of it: the settings people may send and see, what it wants to hear of, how
// it says it, and how that is sent.
import type { TSchema } from 'typebox'
import type { Feature } from '../auth/features.ts'
import type { Db } from '../db/pool.ts'
import type { OutboundRequest, OutboundResponse } from '../lib/outbound.ts'
import type { Message } from './messages/message.ts'
import type { CloudBus } from './delivery/cloud-bus.ts'
import type { BuildStateName, EventName, ProviderId } from './names.ts'

export type Settings = Readonly<Record<string, unknown>>

/** One setting. What it may be is its schema; null means that it is not set. */
export interface Field {
  schema: TSchema
  /** What a schema cannot say: what is wrong with the value, to be read after its name; null: nothing. */
  refuse?(value: unknown): string | null
  isRequired?: true
  /** What it is when a service is made without it; otherwise null. */
  initial?(): unknown
  /** Where requests go. When it changes, secrets that are not shown in full must be sent anew. */
  isAddress?: true
  /** Kept sealed. */
  isSecret?: true
  /** In answers. A masked one shows its last characters, and may be sent back so. */
  shown: 'full' | 'masked' | 'never'
  /** Only organizations with the feature know of it. */
  feature?: Feature
  /** Why it may not change like this, to be read after its name; null: it may. Asked only when it would. */
  refuseChange?(before: unknown, after: unknown, service: { isConnected: boolean }): string | null
}

export interface Provider {
  id: ProviderId
  name: string
  /** Its type in GraphQL ids; null: it has none. */
  graphqlType:
    | 'NotificationServiceWebhook'
    | 'NotificationServiceSlack'
    | 'NotificationServiceOpenTelemetryTracing'
    | null
  /** `web`: connected by a person through the provider's own pages, never made by REST. */
  madeBy: 'rest' | 'web'
  feature?: Feature
  fields: Readonly<Record<string, Field>>
  /** Whether it is pinged when it is made and when its settings change. */
  isPinged: boolean
  /** Of a provider that is made by `web`: how a service comes of being let in at its site. */
  connecting?: Connecting
}

export interface Connecting {
  /** What the person has to choose before they go there: a setting, and how the page asks for it. */
  choice: { key: string; label: string; hint: string }
  /** What a new service tells of. */
  buildStates: readonly BuildStateName[]
  /** The settings of the service, as the site knows them; throws DeliveryFailed where the choice is none. */
  settle(door: Door, chosen: string): Promise<Settings>
}

/** The way in to a site that a person has connected. */
export interface Door {
  apiUrl: string
  send: Send
  /** A token that is good for now; not the one that the site has just refused. */
  token(refused?: string): Promise<string>
}

/** A service with its secrets open. */
export interface Service {
  id: string
  provider: ProviderId
  organizationId: string
  buildStates: readonly BuildStateName[]
  settings: Settings
  creator: { id: string; name: string } | null
}

/** What has happened, as far as is known before a message is made of it. */
export interface Occasion {
  event: EventName
  states: readonly BuildStateName[]
}

export type Send = (request: SentRequest) => Promise<OutboundResponse>

export interface SentRequest extends OutboundRequest {
  /** Names of headers whose values are masked in the record, in lower case. */
  secretHeaders?: readonly string[]
  /** The URL itself is a secret; the record shows only its origin. */
  isSecretUrl?: true
}

/** Steps are told of by pipelines alone. */
export type ServiceMessage = Message & { event: EventName }

export interface Delivery {
  /** The same for every attempt. */
  id: string
  /** From 1. */
  attempt: number
  message: ServiceMessage
  service: Service
  now: Date
  /** Through the guarded client; every exchange is recorded. Throws when there was no answer. */
  send: Send
  /** For reading what a message does not hold. */
  db: Db
  cloudBus: CloudBus
  /** Of a service that a person has connected; throws DeliveryFailed where the operator has named no site for it. */
  door(): Door
  /** What the provider has kept under the key. What it keeps now is written with the success of the delivery. */
  memory: { find(key: string): Promise<unknown>; keep(key: string, data: object | null): void }
}

/**
 * How a provider tells. Requests are made of the message and the settings alone, so that every attempt sends the same
 * bytes; what must differ (a time, a signature) goes into headers.
 */
export interface Sender {
  wants(service: Pick<Service, 'settings' | 'buildStates'>, occasion: Occasion): boolean
  /** Messages of one lane arrive one after the other. Unless said: those of one build, or of one agent. */
  lane?(message: Message): string
  /** Returns when it has arrived; throws DeliveryFailed, or what `send` throws. */
  deliver(delivery: Delivery): Promise<void>
  /** The body that a delivery of the message sends, for people to read; absent: it cannot be told beforehand. */
  preview?(service: Service, message: Message): string
}

export class DeliveryFailed extends Error {
  /** Nothing will be different next time. */
  readonly isFinal: boolean

  constructor(message: string, { isFinal = false } = {}) {
    super(message)
    this.isFinal = isFinal
  }
}

/** The answer, where its status says that all is well. */
export function expectSuccess(response: OutboundResponse): OutboundResponse {
  const { status } = response
  if (status >= 200 && status < 300) return response
  if (status === 410) throw new DeliveryFailed('The receiver answered 410: it is gone.', { isFinal: true })
  if (status >= 300 && status < 400) {
    throw new DeliveryFailed(`The receiver answered ${status}; redirects are not followed.`)
  }
  throw new DeliveryFailed(`The receiver answered ${status}.`)
}

/** The same for a chat, where a message that is refused as such would hold up those behind it, and be refused again. */
export function expectTaken(response: OutboundResponse): OutboundResponse {
  const { status } = response
  if (status === 400 || status === 413 || status === 422) {
    throw new DeliveryFailed(`The chat answered ${status}: it does not take this message.`, { isFinal: true })
  }
  return expectSuccess(response)
}

/** For providers that go by `build_states`. */
export const wantsStates: Sender['wants'] = ({ buildStates }, { states }) =>
  states.some((state) => buildStates.includes(state))
