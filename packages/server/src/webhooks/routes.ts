import { Type } from 'typebox'
import type { Context } from '../context.ts'
import { ok } from '../http/answer.ts'
import type { Param } from '../http/params.ts'
import { route } from '../http/route.ts'
import { notFound, unauthorized } from '../lib/errors.ts'
import * as connections from '../resources/pipelines/repository_connections/queries.ts'
import { hostOfType, identify } from '../source-hosts/hosts.ts'
import { findTargetOfCheck } from './checks.ts'
import * as deliveries from './queries.ts'
import { readWebhookDelivery } from './read.ts'
import { receive } from './receive.ts'
import { DeliveryAnswer } from './schema.ts'

/** No host sends more. */
const bodyLimitBytes = 25 * 1024 * 1024

const webhook: Param = {
  schema: Type.String({ description: 'The last part of the `webhook_url` of a pipeline.' }),
  notFound: 'No pipeline found',
  matches: (text) => /^[0-9a-f]{50}$/.test(text),
}

const receiveDeliveryRoute = route({
  method: 'POST',
  url: '/deliver/:webhook',
  summary: 'Take in a delivery of a source host, or the lines of a post-receive hook',
  scope: 'none',
  permission: 'anonymous',
  params: { webhook },
  bodyLimitBytes,
  rawBody: {
    async admit(ctx, { webhook }) {
      const { organization_id: organizationId, id: sender } = await getTarget(ctx, webhook)
      return { organizationId, sender }
    },
  },
  answers: { 200: DeliveryAnswer },
  errors: {
    400: 'The payload cannot be understood.',
    401: 'The signature is missing or wrong, and the connection to the host has a webhook secret.',
    404: 'No pipeline has this address.',
  },
  async handler({ ctx, params, headers, rawBody, gone }) {
    const target = await getTarget(ctx, params.webhook)
    const connection = await connections.findByHost(ctx.db, target.organization_id, target.repository_host)
    const sender = identify(headers, rawBody)
    const { webhook_secret_sealed: sealed, webhook_secret_key_id: keyId } = connection ?? {}
    const { webhook } = hostOfType(sender.host)
    if (sealed && keyId && !webhook.isGenuine(headers, rawBody, ctx.keys.open(sealed, keyId))) {
      throw unauthorized('The signature is missing or wrong: give the webhook the secret of the connection.')
    }
    const delivery = await readWebhookDelivery(
      { sender, headers, bytes: rawBody },
      { kind: 'upload', organizationId: target.organization_id, sender: target.id, until: gone() },
    )
    const ofCheck = sealed && keyId ? await findTargetOfCheck(ctx, target, delivery.events) : undefined
    return ok(await receive(ctx, ofCheck ?? target, delivery))
  },
})

async function getTarget(ctx: Context, webhook: string): Promise<deliveries.Target> {
  const target = await deliveries.findTarget(ctx.db, webhook)
  if (target === undefined) throw notFound('No pipeline found')
  return target
}

export const webhookRoutes = [receiveDeliveryRoute]
