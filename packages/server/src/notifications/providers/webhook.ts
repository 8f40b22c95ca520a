// Posts JSON to a URL: one request per event, with the token or a signature made with it.
import { createHmac, randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import type { Message, Shown } from '../messages/message.ts'
import type { EventName } from '../names.ts'
import { expectSuccess, type Provider, type Sender, type Service } from '../provider.ts'
import { EventNames, urlField } from './schemas.ts'

export const latestVersion = 3

interface WebhookSettings {
  url: string
  token: string
  token_mode: 'token' | 'signature'
  version: number
  events: readonly EventName[]
  tls_verify: boolean
}

export const webhook: Provider = {
  id: 'webhook',
  name: 'Webhook',
  graphqlType: 'NotificationServiceWebhook',
  madeBy: 'rest',
  isPinged: true,
  summary: 'A POST request for each event, with its data as JSON.',
  selectsBy: 'events',
  fields: {
    url: {
      ...urlField,
      label: 'Address',
      schema: Type.String({
        ...urlField.schema,
        description: 'Where the events are sent. Must be an http or https URL.',
      }),
      isRequired: true,
      shown: 'full',
    },
    token: {
      label: 'Token',
      schema: Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x21-\\x7e]+$',
        description: 'With it the receiver knows who sends. Must be printable characters without spaces.',
      }),
      isSecret: true,
      shown: 'full',
      isRequired: true,
      initial: () => randomBytes(16).toString('hex'),
    },
    token_mode: {
      label: 'Use of the token',
      schema: Type.Union([Type.Literal('token'), Type.Literal('signature')], {
        description: 'How the token is used: sent as it is, or as the key of a signature.',
      }),
      isRequired: true,
      initial: () => 'token',
      shown: 'full',
    },
    version: {
      label: 'Version of the payload',
      schema: Type.Integer({
        minimum: 1,
        maximum: latestVersion,
        description: 'Version of the payload; it can be raised and not lowered.',
      }),
      isRequired: true,
      initial: () => latestVersion,
      shown: 'full',
      refuseChange: (before, after) =>
        Number(after) < Number(before) ? `may be raised to ${latestVersion}, never lowered` : null,
    },
    events: {
      label: 'Events',
      schema: EventNames,
      isRequired: true,
      initial: () => ['build.finished'],
      shown: 'full',
    },
    tls_verify: {
      label: 'Check the certificate',
      schema: Type.Boolean({ description: 'Whether the certificate of the address is checked.' }),
      isRequired: true,
      initial: () => true,
      shown: 'full',
    },
  },
}

export const webhookSender: Sender = {
  wants: ({ settings }, { event }) => settingsOf({ settings }).events.includes(event),
  async deliver({ id, message, service, send, now }) {
    const { url, token, token_mode: mode, tls_verify: tlsVerify } = settingsOf(service)
    const body = bodyOf(service, message)
    const response = await send({
      method: 'POST',
      url,
      headers: {
        'Content-Type': 'application/json',
        'X-Buildkite-Event': message.event,
        'X-Millrace-Delivery': id,
        ...(mode === 'token'
          ? { 'X-Buildkite-Token': token }
          : { 'X-Buildkite-Signature': signature(token, now, body) }),
      },
      secretHeaders: ['x-buildkite-token'],
      body,
      tlsVerify,
    })
    expectSuccess(response)
  },
  preview: bodyOf,
}

/** Settings are checked against their schemas before they are stored. */
const settingsOf = ({ settings }: Pick<Service, 'settings'>) => settings as unknown as WebhookSettings

function signature(token: string, now: Date, body: string): string {
  const timestamp = Math.floor(now.getTime() / 1000)
  const code = createHmac('sha256', token).update(`${timestamp}.`).update(body).digest('hex')
  return `timestamp=${timestamp},signature=${code}`
}

function bodyOf(service: Service, message: Message): string {
  const { version } = settingsOf(service)
  const body = {
    event: message.event,
    ...subjects(service, message),
    sender: message.sender ?? service.creator,
  }
  return JSON.stringify(inVersion(version, body))
}

function subjects(
  service: Service,
  {
    event,
    organization,
    build,
    pipeline,
    job,
    step,
    agent,
    cluster_token,
    test,
    suite,
    budget,
    more,
  }: Message,
): Shown {
  if (event === 'ping') {
    const { url } = settingsOf(service)
    return { service: { id: service.id, provider: service.provider, settings: { url } }, organization }
  }
  return {
    ...more,
    ...(job && { job }),
    ...(step && {
      step: { id: step.id, key: step.key, label: step.label, state: step.state, outcome: step.outcome },
    }),
    ...(build && { build }),
    ...(pipeline && { pipeline }),
    ...(agent && { agent }),
    ...(cluster_token && { cluster_token }),
    ...(test && { test }),
    ...(suite && { suite }),
    ...(budget && { budget }),
  }
}

/** Versions before 3 have another format of times; version 1 also calls the pipeline `project`. */
function inVersion(version: number, body: Shown): unknown {
  if (version >= 3) return body
  const older = oldTimes(body) as Shown
  return version === 2 || !('pipeline' in older) ? older : { ...older, project: older['pipeline'] }
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Our own fields whose names end in `_at` are times. Values that users chose stay as they are. */
function oldTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(oldTimes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]: [string, unknown]) => [
      key,
      key.endsWith('_at') && typeof child === 'string' && isoTime.test(child)
        ? `${child.slice(0, 10)} ${child.slice(11, 19)} UTC`
        : ['meta_data', 'env', 'steps'].includes(key)
          ? child
          : oldTimes(child),
    ]),
  )
}
