// Sends deliveries to the addresses in the `notify` of pipelines, without a service.
import { showLabel } from '@millrace/engine/labels/show.ts'
import { isOutboundUrl } from '../../lib/outbound.ts'
import { mailOf } from '../messages/mail-text.ts'
import type { Message } from '../messages/message.ts'
import { readable } from '../messages/readable.ts'
import type { Target } from '../outbox/targets.ts'
import { DeliveryFailed, expectSuccess, expectTaken, type OAuthSession, type Send } from '../provider.ts'
import { campfireBody } from '../providers/campfire-text.ts'
import { changeEvent } from '../providers/change-event.ts'
import { callChat } from '../providers/chat-api.ts'
import { chatText, escaped } from '../providers/chat-text.ts'
import { latestVersion, webhookSender } from '../providers/webhook.ts'
import type { Transports } from './transports.ts'

interface TargetDelivery {
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
      return transports.mail.send({ id, to: target.to, ...mailOf(readable(message)) })
    case 'slack':
      return postToChat(target, delivery)
    case 'webhook':
      return postTo(target, delivery, {
        headers: { 'X-Buildkite-Event': message.event },
        body: bodyOf(delivery),
      })
    case 'basecamp_campfire':
      return postTo(target, delivery, { isSecretUrl: true, body: campfireBody(readable(message)) })
    case 'pagerduty_change_event': {
      const url = `${transports.pagerUrl}/v2/change/enqueue`
      return postTo({ ...target, to: url }, delivery, { body: changeEvent(target.to, readable(message)) })
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
  const appended = target.message === undefined ? '' : `\n${escaped(showLabel(target.message))}`
  const body = {
    channel: target.to,
    text: chatText(readable(message), 'emoji') + appended,
    unfurl_links: false,
  }
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
