import { Type } from 'typebox'
import type { Context } from '../context.ts'
import { ok } from '../http/answer.ts'
import type { Param } from '../http/params.ts'
import { route } from '../http/route.ts'
import { ApiError, notFound, unauthorized } from '../lib/errors.ts'
import { keepDelivery } from '../resources/pipelines/repository_health/queries.ts'
import { listWebhookSecrets } from '../resources/pipelines/pipelines/webhook-secrets.ts'
import * as connections from '../resources/pipelines/repository_connections/queries.ts'
import { hostOfType, identify } from '../source-hosts/hosts.ts'
import { listTargetsOfCheck } from './checks.ts'
import { lagSeconds } from './ledger.ts'
import { askIn } from './poll-queries.ts'
import * as deliveries from './queries.ts'
import { readWebhookDelivery, type WebhookDelivery } from './read.ts'
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
    401: 'The signature is missing or wrong, and the connection to the host or the webhook has a secret.',
    404: 'No pipeline has this address.',
  },
  async handler({ ctx, params, headers, rawBody, gone }) {
    const target = await getTarget(ctx, params.webhook)
    const sender = identify(headers, rawBody)
    const answer = await noting(ctx, target, sender.event, async () => {
      const connection = await connections.findOfRepository(ctx.db, target.organization_id, target.repository)
      const { webhook } = hostOfType(sender.host)
      const signer = await findSigner(ctx, target, connection, (secret) =>
        webhook.isGenuine(headers, rawBody, secret),
      )
      const delivery = await readWebhookDelivery(
        { sender, headers, bytes: rawBody },
        { kind: 'upload', organizationId: target.organization_id, sender: target.id, until: gone() },
      )
      const targets =
        connection && signer === 'connection'
          ? await listTargetsOfCheck(ctx, target, connection, delivery.events)
          : [target]
      return receiveAt(ctx, targets, delivery)
    })
    return ok(answer)
  },
})

/**
 * Whose secret the delivery was signed with: that of the pipeline's own webhook, or that of the connection, for webhooks that a
 * person has added. Null: neither has one.
 */
async function findSigner(
  ctx: Context,
  target: deliveries.Target,
  connection: connections.ConnectionRow | undefined,
  isGenuine: (secret: string) => boolean,
): Promise<'connection' | 'pipeline' | null> {
  const { webhook_secret_sealed: sealed, webhook_secret_key_id: keyId } = connection ?? {}
  const hasShared = Boolean(sealed && keyId)
  if (sealed && keyId && isGenuine(ctx.keys.open(sealed, keyId))) return 'connection'
  const own = await listWebhookSecrets(ctx.db, ctx.keys, target)
  if (own.some(({ secret }) => isGenuine(secret))) return 'pipeline'
  if (hasShared) {
    throw unauthorized('The signature is missing or wrong: give the webhook the secret of the connection.')
  }
  if (!own.some(({ isCurrent }) => isCurrent)) return null
  throw unauthorized('The signature is missing or wrong: have Millrace create the webhook again.')
}

/** Checks of several pipelines may be run again by one delivery. */
async function receiveAt(
  ctx: Context,
  targets: readonly deliveries.Target[],
  delivery: WebhookDelivery,
): Promise<DeliveryAnswer> {
  const answers: DeliveryAnswer[] = []
  for (const target of targets) answers.push(await receive(ctx, target, delivery))
  return {
    message: answers.map(({ message }) => message).join(' '),
    outcomes: answers.flatMap(({ outcomes }) => outcomes),
    replayed: answers.every(({ replayed }) => replayed),
  }
}

/** Stores how the delivery was answered. After a failure, the repository is soon asked for what it told of. */
async function noting(
  ctx: Context,
  target: deliveries.Target,
  event: string,
  answer: () => Promise<DeliveryAnswer>,
): Promise<DeliveryAnswer> {
  const at = ctx.now()
  const keep = (status: number, message: string) =>
    keepDelivery(ctx.db, target, { at: at.toISOString(), event, status, message })
  try {
    const answered = await answer()
    await keep(200, answered.message)
    return answered
  } catch (error) {
    try {
      const isOurs = !(error instanceof ApiError)
      await keep(isOurs ? 500 : error.status, isOurs ? 'The server failed.' : error.message)
      await askIn(ctx.db, target, at, lagSeconds)
    } catch (lost) {
      ctx.log.warn({ err: lost, pipeline: target.id }, 'The failure of a delivery could not be stored.')
    }
    throw error
  }
}

async function getTarget(ctx: Context, webhook: string): Promise<deliveries.Target> {
  const target = await deliveries.findTarget(ctx.db, webhook)
  if (target === undefined) throw notFound('No pipeline found')
  return target
}

export const webhookRoutes = [receiveDeliveryRoute]
