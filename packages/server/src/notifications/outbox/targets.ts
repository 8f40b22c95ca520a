// Deliveries to addresses in the `notify` of pipelines, without a service.
import type { NotifyEntry } from '@millrace/engine/steps/types.ts'
import { isOutboundUrl } from '../../lib/outbound.ts'
import { mailOf } from '../messages/mail-text.ts'
import type { Transports } from '../delivery/transports.ts'
import type { Message } from '../messages/message.ts'
import { DeliveryFailed, expectSuccess, expectTaken, type OAuthSession, type Send } from '../provider.ts'
import { campfireBody } from '../providers/campfire-text.ts'
import { changeEvent } from '../providers/change-event.ts'
import { callChat } from '../providers/chat-api.ts'
import { chatText, escaped } from '../providers/chat-text.ts'
import { latestVersion, webhookSender } from '../providers/webhook.ts'

export interface Target {
  kind: 'email' | 'webhook' | 'slack' | 'basecamp_campfire' | 'pagerduty_change_event'
  to: string
  /** For chats: the workspace, by default the first one, and a text to append. */
  workspace?: string
  message?: string
}

export interface TargetDelivery {
  id: string
  organizationId: string
  message: Message
  send: Send
  /** A session with a chat workspace of the organization. Throws DeliveryFailed when none is connected. */
  workspace(name?: string): Promise<OAuthSession>
}

export async function deliverTo(
  target: Target,
  delivery: TargetDelivery,
  transports: Transports,
): Promise<void> {
  const { id, message } = delivery
  switch (target.kind) {
    case 'email':
      return transports.mail.send({ id, to: target.to, ...mailOf(message) })
    case 'slack':
      return postToChat(target, delivery)
    case 'webhook':
      return postTo(target, delivery, {
        headers: { 'X-Buildkite-Event': message.event },
        body: bodyOf(delivery),
      })
    case 'basecamp_campfire':
      return postTo(target, delivery, { isSecretUrl: true, body: campfireBody(message) })
    case 'pagerduty_change_event': {
      const url = `${transports.pagerUrl}/v2/change/enqueue`
      return postTo({ ...target, to: url }, delivery, { body: changeEvent(target.to, message) })
    }
  }
}

async function postTo(
  { kind, to }: Target,
  { id, send }: TargetDelivery,
  { headers = {}, ...request }: { headers?: Record<string, string>; body: string; isSecretUrl?: true },
): Promise<void> {
  if (!isOutboundUrl(to)) {
    throw new DeliveryFailed(`\`notify\` has a ${kind} that is not an http or https URL.`, { isFinal: true })
  }
  const response = await send({
    method: 'POST',
    url: to,
    headers: { 'Content-Type': 'application/json', 'X-Millrace-Delivery': id, ...headers },
    ...request,
  })
  const expect = kind === 'basecamp_campfire' ? expectTaken : expectSuccess
  expect(response)
}

async function postToChat(target: Target, { id, message, workspace }: TargetDelivery): Promise<void> {
  const appended = target.message === undefined ? '' : `\n${escaped(target.message)}`
  const body = { channel: target.to, text: chatText(message, 'emoji') + appended, unfurl_links: false }
  await callChat(await workspace(target.workspace), 'chat.postMessage', body, id)
}

/** The body that a webhook service of the latest version would send. */
function bodyOf({ organizationId, message }: TargetDelivery): string {
  const service = {
    id: organizationId,
    provider: 'webhook' as const,
    organizationId,
    buildStates: [],
    settings: { version: latestVersion },
    creator: null,
  }
  return webhookSender.preview?.(service, message) ?? ''
}

const plain = ['email', 'webhook', 'basecamp_campfire', 'pagerduty_change_event'] as const

export function targetsOf({ service, settings }: NotifyEntry): Target[] {
  if (service === 'slack') return chatTargets(settings)
  const kind = plain.find((name) => name === service)
  return kind === undefined || typeof settings !== 'string' ? [] : [{ kind, to: settings.trim() }]
}

/** `#channel`, `@person` or an id, optionally after the name of a workspace. */
function chatTargets(settings: unknown): Target[] {
  const { channels, message } =
    typeof settings === 'object' && settings !== null
      ? (settings as { channels?: unknown; message?: unknown })
      : { channels: settings, message: null }
  return [channels].flat().flatMap((channel): Target[] => {
    if (typeof channel !== 'string' || channel.trim() === '') return []
    const [, workspace = '', to = ''] = /^([^#@]*)([#@].+)$/.exec(channel.trim()) ?? ['', '', channel.trim()]
    return [
      {
        kind: 'slack',
        to,
        ...(workspace === '' ? {} : { workspace }),
        ...(typeof message === 'string' && message.trim() !== '' ? { message: message.slice(0, 4000) } : {}),
      },
    ]
  })
}
