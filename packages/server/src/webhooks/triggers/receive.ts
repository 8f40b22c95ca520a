// Takes in a request to the address of a trigger. One transaction claims the delivery, makes its build and logs it, so that a
// delivery that failed can be sent again.
import type { IncomingHttpHeaders } from 'node:http'
import { carryOut } from '../../conductor/act.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { parseBody } from '../../http/json-body.ts'
import { ApiError, badRequest, conflict, notFound, unauthorized } from '../../lib/errors.ts'
import { hashToken } from '../../lib/ids.ts'
import * as claims from '../queries.ts'
import { keepTriggerDelivery } from '../../resources/pipelines/trigger-deliveries/queries.ts'
import { describeRequest } from '../../resources/pipelines/trigger-deliveries/rules.ts'
import { judge } from './judge.ts'
import * as triggers from '../../resources/pipelines/triggers/queries.ts'
import type { Addressed } from '../../resources/pipelines/triggers/queries.ts'
import type { TriggerAnswer } from '../../resources/pipelines/triggers/schema.ts'
import { openSecret } from '../../resources/pipelines/triggers/secrets.ts'
import { deliveryIdOf, isGenuine } from './signature.ts'

interface Sent {
  headers: IncomingHttpHeaders
  bytes: Buffer
}

/** A payload of a mebibyte with so many values is read in milliseconds. */
const mostValues = 50_000

export async function receivePayload(ctx: Context, trigger: Addressed, sent: Sent): Promise<TriggerAnswer> {
  const secret = openSecret(ctx.keys, trigger)
  const request = describeRequest(sent, trigger.signature_header, secret)
  const log = { at: ctx.now().toISOString(), ...request }
  try {
    if (!isGenuine(trigger, secret, sent)) {
      const where = `the header ${trigger.signature_header}`
      throw unauthorized(`The signature is missing or wrong: the trigger expects it in ${where}.`)
    }
    if (!trigger.enabled) throw conflict('The trigger is switched off.')
    const payload = readPayload(sent.bytes)
    return await takeIn(ctx, trigger, { payload, deliveryId: deliveryIdOf(sent.headers), log })
  } catch (error) {
    const isOurs = !(error instanceof ApiError)
    const answer = isOurs
      ? { status: 500, message: 'The server failed.' }
      : { status: error.status, message: error.message }
    try {
      await keepTriggerDelivery(ctx.db, trigger, { ...log, ...answer, build: null })
    } catch (lost) {
      ctx.log.warn({ err: lost, trigger: trigger.id }, 'The failure of a delivery could not be stored.')
    }
    throw error
  }
}

interface Read {
  payload: object
  deliveryId: string | null
  log: { at: string } & ReturnType<typeof describeRequest>
}

async function takeIn(
  ctx: Context,
  addressed: Addressed,
  { payload, deliveryId, log }: Read,
): Promise<TriggerAnswer> {
  const { organization_id, pipeline_id } = addressed
  const of = { organization_id, id: pipeline_id }
  const claim =
    deliveryId === null ? null : `trigger ${addressed.id} ${hashToken(deliveryId).toString('hex')}`
  const { answer, followUps } = await inTransaction(ctx.db, async (trx) => {
    const trigger = await triggers.lockArmed(trx, organization_id, addressed.id)
    if (trigger === undefined) throw notFound('No trigger found')
    if (claim !== null && !(await claims.claimWebhookDelivery(trx, of, claim, log.at))) {
      const first = (await claims.findAnswer(trx, of, claim)) as TriggerAnswer
      const replayed = { ...first, message: `Received before. ${first.message}`, replayed: true }
      await keepTriggerDelivery(trx, trigger, { ...log, status: 200, ...replayed })
      return { answer: replayed, followUps: [] }
    }
    const judged = await judge(trx, ctx, trigger, payload)
    const isBuilt = judged.kind === 'built'
    const { organization, pipeline } = trigger
    const answer: TriggerAnswer = {
      message: isBuilt ? `Build #${judged.number} was made.` : `No build was made. ${judged.reason}`,
      build: isBuilt
        ? {
            id: judged.id,
            number: judged.number,
            web_url: `${ctx.config.url}/${organization.slug}/${pipeline.slug}/builds/${judged.number}`,
          }
        : null,
      replayed: false,
    }
    if (claim !== null) await claims.keepAnswer(trx, of, claim, answer)
    await keepTriggerDelivery(trx, trigger, { ...log, status: 200, ...answer })
    return { answer, followUps: isBuilt ? judged.followUps : [] }
  })
  await carryOut(ctx, followUps)
  return answer
}

function readPayload(bytes: Buffer): object {
  if (bytes.length === 0) throw badRequest('The request has no body.')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badRequest('The body is not UTF-8.')
  }
  return parseBody(text, mostValues) as object
}
