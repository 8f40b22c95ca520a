import { byCaller, recordAudit } from '../../audit/record.ts'
import type { AuditType } from '../../audit/types.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound, refused } from '../../lib/errors.ts'
import { splitUserinfo } from '../../lib/userinfo.ts'
import { replaceTeams } from '../team-pipelines/access.ts'
import { auditedChanges } from './audited.ts'
import * as pipelines from './queries.ts'
import type { UpdatePipelineBody } from './schema.ts'
import { changedUserinfo, withPlainRepository } from './sealed.ts'
import { settleChange } from './fields.ts'
import { teamsOfChange } from './teams.ts'

export const updatePipeline = (
  ctx: Context,
  org: Organization,
  caller: Caller,
  slug: string,
  body: UpdatePipelineBody,
): Promise<pipelines.PipelineRow> =>
  change(ctx, org, caller, slug, async (trx, before) => {
    if (before.archived_at !== null) {
      throw refused('The pipeline is archived and cannot be changed; unarchive it first.')
    }
    const teams = await teamsOfChange(trx, org, caller, body)
    const plain = withPlainRepository(fieldsOf(before))
    const fields = await settleChange(trx, org, caller, plain, withPlainRepository(body))
    const userinfo = changedUserinfo(ctx.keys, before, body.repository)
    await pipelines.updateInOrg(trx, org.id, before.id, { ...fields, ...userinfo })
    await audit(
      trx,
      org,
      caller,
      'PIPELINE_UPDATED',
      { ...before, name: fields.name },
      { ...auditedChanges(before, fields), ...(isNew(body.repository) ? { credentials_changed: true } : {}) },
    )
    if (fields.visibility !== before.visibility) {
      const { visibility } = fields
      await audit(
        trx,
        org,
        caller,
        'PIPELINE_VISIBILITY_CHANGED',
        { ...before, name: fields.name },
        { visibility },
      )
    }
    if (teams !== null) await replaceTeams(trx, org, caller, { id: before.id, name: fields.name }, teams)
  })

const isNew = (repository: string | undefined) =>
  repository !== undefined && splitUserinfo(repository).userinfo !== null

const fieldsOf = (pipeline: pipelines.PipelineRow) =>
  Object.fromEntries(
    pipelines.fieldNames.map((name) => [name, pipeline[name]]),
  ) as unknown as pipelines.PipelineFields

export const archivePipeline = (
  ctx: Context,
  org: Organization,
  caller: Caller,
  slug: string,
): Promise<pipelines.PipelineRow> =>
  change(ctx, org, caller, slug, async (trx, before) => {
    if (before.archived_at !== null) throw refused('Pipeline could not be archived.')
    await setArchived(trx, org, caller, before, ctx.now().toISOString())
  })

export const unarchivePipeline = (
  ctx: Context,
  org: Organization,
  caller: Caller,
  slug: string,
): Promise<pipelines.PipelineRow> =>
  change(ctx, org, caller, slug, async (trx, before) => {
    if (before.archived_at === null) throw refused('Pipeline could not be unarchived.')
    await setArchived(trx, org, caller, before, null)
  })

async function setArchived(
  trx: Trx,
  org: Organization,
  caller: Caller,
  pipeline: pipelines.PipelineRow,
  at: string | null,
): Promise<void> {
  await pipelines.updateInOrg(trx, org.id, pipeline.id, { archived_at: at })
  await audit(trx, org, caller, 'PIPELINE_UPDATED', pipeline, { archived_at: at })
}

/** Asking for what is so already changes nothing. */
export const switchWebhooks = (
  ctx: Context,
  org: Organization,
  caller: Caller,
  slug: string,
  to: 'enabled' | 'disabled',
): Promise<pipelines.PipelineRow> =>
  change(ctx, org, caller, slug, async (trx, before) => {
    requireGithub(before)
    if ((before.webhooks_disabled_at === null) === (to === 'enabled')) return
    const at = to === 'enabled' ? null : ctx.now().toISOString()
    await pipelines.updateInOrg(trx, org.id, before.id, {
      webhooks_disabled_at: at,
      webhooks_disabled_by: at === null ? null : caller.user.id,
    })
    await audit(trx, org, caller, 'PIPELINE_UPDATED', before, { webhooks_disabled_at: at })
  })

export function requireGithub(pipeline: pipelines.PipelineRow): void {
  if (pipeline.provider_id !== 'github') throw notFound('No GitHub webhooks found')
}

async function change(
  ctx: Context,
  org: Organization,
  caller: Caller,
  slug: string,
  work: (trx: Trx, before: pipelines.PipelineRow) => Promise<void>,
): Promise<pipelines.PipelineRow> {
  return inTransaction(ctx.db, async (trx) => {
    const id = await pipelines.lockBySlug(trx, org.id, slug)
    const before = id === undefined ? undefined : await pipelines.findInOrg(trx, org, caller, id)
    if (before === undefined) throw notFound('No pipeline found')
    await work(trx, before)
    const after = await pipelines.findInOrg(trx, org, caller, before.id)
    if (after === undefined) throw new Error('A pipeline vanished while it was locked.')
    return after
  })
}

async function audit(
  trx: Trx,
  org: Organization,
  caller: Caller,
  type: AuditType,
  pipeline: { id: string; name: string },
  data: Record<string, unknown>,
): Promise<void> {
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type,
    subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.name },
    data,
  })
}
