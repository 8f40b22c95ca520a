import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { ok } from '../../http/answer.ts'
import type { Param } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { notFound } from '../../lib/errors.ts'
import * as triggers from '../../resources/pipelines/triggers/queries.ts'
import { DryRun, DryRunResult, TriggerAnswer } from '../../resources/pipelines/triggers/schema.ts'
import { dryRun } from './dry-run.ts'
import { receivePayload } from './receive.ts'

const dryRunRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/triggers/:trigger/dry_run',
  summary: 'Say what build a payload would make, or why none',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  body: DryRun,
  callsOut: true,
  answers: { 200: DryRunResult },
  async handler({ ctx, org, params, body }) {
    return ok(await dryRun({ ctx, org }, params, body.payload))
  },
})

const address: Param = {
  schema: Type.String({ description: 'The last part of the `address` of a trigger.' }),
  notFound: 'No trigger found',
  matches: (text) => /^[0-9a-f]{50}$/.test(text),
}

const receivePayloadRoute = route({
  method: 'POST',
  url: '/deliver/trigger/:address',
  summary: 'Take in a payload for a trigger',
  scope: 'none',
  permission: 'anonymous',
  params: { address },
  rawBody: {
    async admit(ctx, { address }) {
      const { organization_id: organizationId, id: sender } = await getAddressed(ctx, address)
      return { organizationId, sender }
    },
  },
  answers: { 200: TriggerAnswer },
  errors: {
    400: 'The body is no JSON object, or is nested too deeply or holds too many values.',
    401: 'The signature is missing or wrong.',
    403: 'The owner of the trigger may no longer build the pipeline.',
    404: 'No trigger has this address.',
    409: 'The trigger is switched off.',
    422: 'The payload lacks something that the build needs, or the steps of the pipeline cannot be read.',
  },
  async handler({ ctx, params, headers, rawBody }) {
    const trigger = await getAddressed(ctx, params.address)
    return ok(await receivePayload(ctx, trigger, { headers, bytes: rawBody }))
  },
})

async function getAddressed(ctx: Context, address: string): Promise<triggers.Addressed> {
  const trigger = await triggers.findByAddress(ctx.db, address)
  if (trigger === undefined) throw notFound('No trigger found')
  return trigger
}

export const dryRunRoutes = [dryRunRoute]

export const triggerAddressRoutes = [receivePayloadRoute]
