import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import * as pipelines from '../pipelines/queries.ts'
import * as triggers from './queries.ts'
import type { TriggerFields, TriggerRow } from './queries.ts'
import { mergeFields } from './rules.ts'
import type { CreateTriggerBody, UpdateTriggerBody } from './schema.ts'
import { makeAddress, newSecret, openSecret, sealSecret } from './secrets.ts'

interface Changed {
  trigger: TriggerRow
  /** undefined: no new one was made. */
  secret: string | undefined
}

// Fixed variables may hold secrets.
const audited = [
  'name',
  'enabled',
  'branch',
  'commit',
  'message',
  'condition',
  'signature',
  'signature_header',
] as const

const blank: Omit<TriggerFields, 'name'> = {
  enabled: true,
  branch: null,
  commit: null,
  message: null,
  env: {},
  condition: null,
  signature: 'none',
  signature_header: null,
}

export async function createTrigger(
  { ctx, org, caller }: RequestContext,
  pipelineSlug: string,
  body: CreateTriggerBody,
): Promise<Changed> {
  const fields = mergeFields({ ...blank, name: body.name }, { signature: 'hmac_sha256', ...body })
  const secret = fields.signature === 'none' ? null : (body.secret ?? newSecret())
  const id = newId()
  const trigger = await inTransaction(ctx.db, async (trx) => {
    const pipeline = await pipelines.findIdBySlug(trx, org.id, pipelineSlug)
    if (pipeline === undefined || !(await pipelines.holdInOrg(trx, org.id, pipeline.id))) {
      throw notFound('No pipeline found')
    }
    const row = { id, organization_id: org.id, pipeline_id: pipeline.id, created_by: caller.user.id }
    await triggers.insert(trx, {
      ...row,
      ...fields,
      ...makeAddress(ctx.keys),
      ...sealSecret(ctx.keys, secret),
    })
    const data = Object.fromEntries(audited.map((key) => [key, fields[key]]))
    await audit(trx, org, caller, 'PIPELINE_TRIGGER_CREATED', { id, name: fields.name }, data)
    return getChanged(trx, org, pipelineSlug, id)
  })
  return { trigger, secret: body.secret === undefined ? (secret ?? undefined) : undefined }
}

export async function updateTrigger(
  { ctx, org, caller }: RequestContext,
  { pipeline, trigger: id }: { pipeline: string; trigger: string },
  body: UpdateTriggerBody,
): Promise<Changed> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await lock(trx, org, pipeline, id)
    const fields = mergeFields(before, body)
    const kept = before.signature === 'none' ? null : openSecret(ctx.keys, before)
    const made =
      fields.signature !== 'none' && kept === null && body.secret === undefined ? newSecret() : undefined
    const secret = fields.signature === 'none' ? null : (body.secret ?? kept ?? made ?? null)
    // Builds are made with the owner's rights, so the last person to change the trigger becomes its owner.
    await triggers.updateInOrg(trx, org.id, id, {
      ...fields,
      ...sealSecret(ctx.keys, secret),
      created_by: caller.user.id,
    })
    const after = await getChanged(trx, org, pipeline, id)
    const changed = changedAttributes(withOwner(before), withOwner(after), [...audited, 'owner_id'])
    await audit(trx, org, caller, 'PIPELINE_TRIGGER_UPDATED', after, changed)
    return { trigger: after, secret: made }
  })
}

/** The earlier address and secret stop working at once. */
export async function rotateTrigger(
  { ctx, org, caller }: RequestContext,
  { pipeline, trigger: id }: { pipeline: string; trigger: string },
): Promise<Changed> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await lock(trx, org, pipeline, id)
    const secret = before.signature === 'none' ? null : newSecret()
    await triggers.updateInOrg(trx, org.id, id, {
      ...pickFields(before),
      ...makeAddress(ctx.keys),
      ...sealSecret(ctx.keys, secret),
      created_by: caller.user.id,
    })
    const after = await getChanged(trx, org, pipeline, id)
    await audit(trx, org, caller, 'PIPELINE_TRIGGER_ROTATED', after, {})
    return { trigger: after, secret: secret ?? undefined }
  })
}

export async function deleteTrigger(
  { ctx, org, caller }: RequestContext,
  { pipeline, trigger: id }: { pipeline: string; trigger: string },
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const trigger = await lock(trx, org, pipeline, id)
    await triggers.deleteInOrg(trx, org.id, id)
    await audit(trx, org, caller, 'PIPELINE_TRIGGER_DELETED', trigger, {})
  })
}

const pickFields = (row: TriggerRow): TriggerFields => ({
  name: row.name,
  enabled: row.enabled,
  branch: row.branch,
  commit: row.commit,
  message: row.message,
  env: row.env,
  condition: row.condition,
  signature: row.signature,
  signature_header: row.signature_header,
})

const withOwner = (trigger: TriggerRow) => ({ ...trigger, owner_id: trigger.created_by?.id ?? null })

async function lock(trx: Trx, org: Organization, pipeline: string, id: string): Promise<TriggerRow> {
  const found = await triggers.lockInPipeline(trx, org.id, pipeline, id)
  if (found === undefined) throw notFound('No trigger found')
  return found
}

async function getChanged(trx: Trx, org: Organization, pipeline: string, id: string): Promise<TriggerRow> {
  const found = await triggers.findInPipeline(trx, org.id, pipeline, id)
  if (found === undefined) throw notFound('No trigger found')
  return found
}

async function audit(
  trx: Trx,
  org: Organization,
  caller: Caller,
  type: AuditType,
  { id, name }: { id: string; name: string },
  data: Record<string, unknown>,
): Promise<void> {
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type,
    subject: { type: 'PipelineTrigger', uuid: id, name },
    data,
  })
}
