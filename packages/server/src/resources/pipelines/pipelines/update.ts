import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, refused } from '../../../lib/errors.ts'
import { splitUserinfo } from '../../../lib/userinfo.ts'
import { replaceTeams } from '../team-access/access.ts'
import { auditedChanges } from './audited.ts'
import { resolveUpdatedFields } from './fields.ts'
import * as pipelines from './queries.ts'
import type { UpdatePipelineBody } from './schema.ts'
import { changedUserinfo, withPlainRepository } from './sealed.ts'
import { teamsOfUpdate } from './teams.ts'

export const updatePipeline = (
  { ctx, org, caller }: RequestContext,
  slug: string,
  body: UpdatePipelineBody,
): Promise<pipelines.PipelineRow> =>
  update({ ctx, org, caller }, slug, async (trx, before) => {
    if (before.archived_at !== null) {
      throw refused('The pipeline is archived and cannot be changed; unarchive it first.')
    }
    const teams = await teamsOfUpdate(trx, org, caller, body)
    const plain = withPlainRepository(fieldsOf(before))
    const fields = await resolveUpdatedFields(trx, org, caller, plain, withPlainRepository(body))
    const userinfo = changedUserinfo(ctx.keys, before, body.repository)
    await pipelines.updateInOrg(trx, org.id, before.id, { ...fields, ...userinfo })
    const { name, visibility } = fields
    const pipeline = { id: before.id, name }
    const changes = auditedChanges(before, fields)
    if (hasUserinfo(body.repository)) changes['credentials_changed'] = true
    await audit(trx, org, caller, 'PIPELINE_UPDATED', pipeline, changes)
    if (visibility !== before.visibility) {
      await audit(trx, org, caller, 'PIPELINE_VISIBILITY_CHANGED', pipeline, { visibility })
    }
    if (teams !== null) await replaceTeams(trx, org, caller, pipeline, teams)
  })

const hasUserinfo = (repository: string | undefined) =>
  repository !== undefined && splitUserinfo(repository).userinfo !== null

const fieldsOf = (pipeline: pipelines.PipelineRow) =>
  Object.fromEntries(
    pipelines.fieldNames.map((name) => [name, pipeline[name]]),
  ) as unknown as pipelines.PipelineFields

export const archivePipeline = (
  { ctx, org, caller }: RequestContext,
  slug: string,
): Promise<pipelines.PipelineRow> =>
  update({ ctx, org, caller }, slug, async (trx, before) => {
    if (before.archived_at !== null) throw refused('Pipeline could not be archived.')
    await updateArchived(trx, org, caller, before, ctx.now().toISOString())
  })

export const unarchivePipeline = (
  { ctx, org, caller }: RequestContext,
  slug: string,
): Promise<pipelines.PipelineRow> =>
  update({ ctx, org, caller }, slug, async (trx, before) => {
    if (before.archived_at === null) throw refused('Pipeline could not be unarchived.')
    await updateArchived(trx, org, caller, before, null)
  })

async function updateArchived(
  trx: Trx,
  org: Organization,
  caller: Caller,
  pipeline: pipelines.PipelineRow,
  at: string | null,
): Promise<void> {
  await pipelines.updateInOrg(trx, org.id, pipeline.id, { archived_at: at })
  await audit(trx, org, caller, 'PIPELINE_UPDATED', pipeline, { archived_at: at })
}

/** Does nothing when they are enabled already. */
export const enableGithubWebhooks = (
  { ctx, org, caller }: RequestContext,
  slug: string,
): Promise<pipelines.PipelineRow> =>
  update({ ctx, org, caller }, slug, async (trx, before) => {
    requireGithub(before)
    if (before.webhooks_disabled_at !== null) await updateWebhooks(trx, org, caller, before, null)
  })

/** Does nothing when they are disabled already. */
export const disableGithubWebhooks = (
  { ctx, org, caller }: RequestContext,
  slug: string,
): Promise<pipelines.PipelineRow> =>
  update({ ctx, org, caller }, slug, async (trx, before) => {
    requireGithub(before)
    if (before.webhooks_disabled_at !== null) return
    await updateWebhooks(trx, org, caller, before, ctx.now().toISOString())
  })

async function updateWebhooks(
  trx: Trx,
  org: Organization,
  caller: Caller,
  pipeline: pipelines.PipelineRow,
  at: string | null,
): Promise<void> {
  await pipelines.updateInOrg(trx, org.id, pipeline.id, {
    webhooks_disabled_at: at,
    webhooks_disabled_by: at === null ? null : caller.user.id,
  })
  await audit(trx, org, caller, 'PIPELINE_UPDATED', pipeline, { webhooks_disabled_at: at })
}

export function requireGithub(pipeline: pipelines.PipelineRow): void {
  if (pipeline.provider_id !== 'github') throw notFound('No GitHub webhooks found')
}

/** `work` runs while the pipeline is locked. */
async function update(
  { ctx, org, caller }: RequestContext,
  slug: string,
  work: (trx: Trx, before: pipelines.PipelineRow) => Promise<void>,
): Promise<pipelines.PipelineRow> {
  return inTransaction(ctx.db, async (trx) => {
    const id = await pipelines.lockBySlug(trx, org.id, slug)
    await work(trx, await pipelines.getInOrg(trx, org, caller, id))
    return pipelines.getInOrg(trx, org, caller, id)
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
