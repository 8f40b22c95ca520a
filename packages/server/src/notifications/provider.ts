// The interface of a provider. Each provider is one file: its settings, the events it wants, and how it sends them.
import type { TSchema } from 'typebox'
import type { Feature } from '../auth/features.ts'
import type { Db } from '../db/pool.ts'
import type { OutboundRequest, OutboundResponse } from '../lib/outbound.ts'
import type { Message } from './messages/message.ts'
import type { AuditEventName, BuildStateName, EventName, ProviderId } from './names.ts'

export type Settings = Readonly<Record<string, unknown>>

/** One setting. null: it is not set. */
export interface Field {
  /** What forms call it. Their hint is the description of the schema. */
  label: string
  schema: TSchema
  /** A check beyond the schema. Returns what is wrong, as a phrase after the setting's name; null: nothing. */
  refuse?(value: unknown): string | null
  isRequired?: true
  /** The value of a service that is created without one. */
  initial?(): unknown
  /** The address of requests. Who changes it must send the secrets again that are not shown in full. */
  isAddress?: true
  /** Stored encrypted. */
  isSecret?: true
  /** In API responses. A masked value shows its last characters, and may be sent back like that. */
  shown: 'full' | 'masked' | 'never'
  /** Exists only for organizations with the feature. */
  feature?: Feature
  /** Several lines of text. */
  hasLines?: true
  /** Only its first value counts: `refuseChange` refuses every other. */
  isFixed?: true
  /** Called when the value would change. Returns why it may not, as a phrase after the name; null: it may. */
  refuseChange?(before: unknown, after: unknown, service: { isConnected: boolean }): string | null
}

export interface Provider {
  id: ProviderId
  name: string
  /** The type in GraphQL ids. */
  graphqlType:
    | 'NotificationServiceWebhook'
    | 'NotificationServiceSlack'
    | 'NotificationServiceOpenTelemetryTracing'
    | null
  /** `web`: a person connects it through the provider's own pages; REST cannot create it. */
  madeBy: 'rest' | 'web'
  feature?: Feature
  /** For people who choose one. */
  summary: string
  /** How a service chooses what it is told of: by its setting `events`, or by `build_states`, where none may mean all. */
  selectsBy: 'events' | 'build_states' | 'build_states_or_all'
  fields: Readonly<Record<string, Field>>
  /** Whether a ping is sent when a service is created and when its settings change. */
  isPinged: boolean
  /** Required for providers that are connected by `web`. */
  connecting?: Connecting
}

export interface Connecting {
  /** The setting that the person chooses before they authorize, and how the page asks for it. */
  choice: { key: string; label: string; hint: string }
  /** The `build_states` of a new service. */
  buildStates: readonly BuildStateName[]
  /** The settings of the service, read from the site. Throws DeliveryFailed for a choice that does not exist there. */
  readSettings(session: OAuthSession, chosen: string): Promise<Settings>
}

/** An OAuth session with a site that a person has connected. */
export interface OAuthSession {
  apiUrl: string
  send: Send
  /** A valid access token, different from `refused`, which the site has just rejected. */
  token(refused?: string): Promise<string>
}

/** A service with its secrets decrypted. */
export interface Service {
  id: string
  provider: ProviderId
  organizationId: string
  buildStates: readonly BuildStateName[]
  settings: Settings
  creator: { id: string; name: string } | null
}

/** An event as far as it is known before its message is rendered. */
export interface Trigger {
  event: EventName
  states: readonly BuildStateName[]
}

/** Puts events on the event bus of a cloud account. */
export interface CloudBus {
  /** Returns when the bus has accepted the event; throws DeliveryFailed, or what `send` throws. */
  put(send: Send, bus: { region: string; account: string }, entry: CloudEvent): Promise<void>
}

interface CloudEvent {
  detailType: string
  detail: string
  at: string
  resources: string[]
}

export type Send = (request: SentRequest) => Promise<OutboundResponse>

export interface SentRequest extends OutboundRequest {
  /** Names, in lower case, of headers whose values are masked in the record. */
  secretHeaders?: readonly string[]
  /** The URL is a secret: the record shows only its origin. */
  isSecretUrl?: true
}

/** Only `notify` of pipelines publishes step events. Audit events go to event buses only. */
export type ServiceMessage = Message & { event: EventName | AuditEventName }

export interface Delivery {
  /** The same for every attempt. */
  id: string
  /** From 1. */
  attempt: number
  message: ServiceMessage
  service: Service
  now: Date
  /** Sends through lib/outbound.ts and records the exchange. Throws when there is no response. */
  send: Send
  /** For reading what the message does not contain. */
  db: Db
  cloudBus: CloudBus
  /** For connected services. Throws DeliveryFailed when the operator has not configured the site. */
  openSession(): OAuthSession
  /** Data that the provider stores for the service. `keep` is written when the delivery succeeds. */
  state: { find(key: string): Promise<unknown>; keep(key: string, data: object | null): void }
}

/**
 * How a provider sends. A request depends only on the message and the settings, so that every attempt sends the same body;
 * times and signatures go into headers.
 */
export interface Sender {
  wants(service: Pick<Service, 'settings' | 'buildStates'>, trigger: Trigger): boolean
  /** Messages with the same name are delivered in order. By default those of one build or one agent are. */
  queue?(message: Message): string
  /** Returns when the message has arrived; throws DeliveryFailed, or what `send` throws. */
  deliver(delivery: Delivery): Promise<void>
  /** The request body of a delivery, for people to read. Absent when it is not known beforehand. */
  preview?(service: Service, message: Message): string
}

export class DeliveryFailed extends Error {
  /** Another attempt would fail too. */
  readonly isFinal: boolean

  constructor(message: string, { isFinal = false } = {}) {
    super(message)
    this.isFinal = isFinal
  }
}

/** Returns the response when its status is 2xx. */
export function expectSuccess(response: OutboundResponse): OutboundResponse {
  const { status } = response
  if (status >= 200 && status < 300) return response
  if (status === 410) throw new DeliveryFailed('The receiver answered 410: it is gone.', { isFinal: true })
  if (status >= 300 && status < 400) {
    throw new DeliveryFailed(`The receiver answered ${status}; redirects are not followed.`)
  }
  throw new DeliveryFailed(`The receiver answered ${status}.`)
}

/** For chats: a message that is rejected for its content would be rejected again and hold up the queue. */
export function expectTaken(response: OutboundResponse): OutboundResponse {
  const { status } = response
  if (status === 400 || status === 413 || status === 422) {
    throw new DeliveryFailed(`The chat answered ${status}: it does not take this message.`, { isFinal: true })
  }
  return expectSuccess(response)
}

/** For providers that are configured by `build_states`. */
export const wantsStates: Sender['wants'] = ({ buildStates }, { states }) =>
  states.some((state) => buildStates.includes(state))
