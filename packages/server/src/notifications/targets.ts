// Deliveries that a pipeline asks for: to an address that stands in its `notify`, without a service.
import type { Means } from './means.ts'
import type { Message } from './message.ts'
import { DeliveryFailed, expectSuccess, type Send } from './provider.ts'
import { mailOf } from './mail-text.ts'
import { isOutboundUrl } from '../lib/outbound.ts'
import { latestVersion, webhookSender } from './providers/webhook.ts'

export interface Target {
  kind: 'email' | 'webhook'
  to: string
}

export async function deliverTo(
  target: Target,
  delivery: { id: string; organizationId: string; message: Message; send: Send },
  { mail }: Means,
): Promise<void> {
  if (target.kind === 'email') {
    await mail.send({ id: delivery.id, to: target.to, ...mailOf(delivery.message) })
    return
  }
  if (!isOutboundUrl(target.to)) {
    throw new DeliveryFailed('`notify` has a webhook that is not an http or https URL.', { isFinal: true })
  }
  const { id, message, organizationId, send } = delivery
  const response = await send({
    method: 'POST',
    url: target.to,
    headers: {
      'Content-Type': 'application/json',
      'X-Buildkite-Event': message.event,
      'X-Millrace-Delivery': id,
    },
    body: bodyOf(organizationId, message),
  })
  expectSuccess(response)
}

/** As a webhook service of the latest version would say it. */
function bodyOf(organizationId: string, message: Message): string {
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
