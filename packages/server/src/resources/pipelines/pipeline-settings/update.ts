import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { Organization } from '../../../auth/caller.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import * as clusters from '../../clusters/clusters/queries.ts'
import * as pipelineSettings from './queries.ts'
import type { SettingsChange, SettingsFields, SettingsRow, Toggle } from './queries.ts'
import type { EnableBuildExportBody, UpdatePipelineSettingsBody } from './schema.ts'

const minutes = [
  'default_timeout_in_minutes',
  'maximum_timeout_in_minutes',
  'scheduled_job_expiry_in_minutes',
] as const

const audited = [
  ...minutes,
  'currency',
  'default_branch',
  'default_cluster_id',
  'hosted_agents_ssh_enabled_at',
  'public_pipelines_enabled_at',
  'advanced_queue_metrics_enabled_at',
  'build_export_location',
  'build_export_strategy_id',
] as const satisfies ReadonlyArray<keyof SettingsFields>

export const updatePipelineSettings = (
  { ctx, org, caller }: RequestContext,
  body: UpdatePipelineSettingsBody,
): Promise<SettingsRow> =>
  update({ ctx, org, caller }, 'ORGANIZATION_UPDATED', async (trx, before) => {
    const { default_branch: branch, default_cluster_id: cluster } = body
    const wanted: SettingsChange = {
      ...Object.fromEntries(minutes.flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]]))),
      ...(branch === undefined ? {} : { default_branch: branch || null }),
      ...(body.currency === undefined ? {} : { currency: body.currency }),
      ...(cluster === undefined ? {} : { default_cluster_id: await readCluster(trx, org, cluster) }),
    }
    const { default_timeout_in_minutes: usual, maximum_timeout_in_minutes: most } = { ...before, ...wanted }
    if (usual !== null && most !== null && usual > most) {
      throw validationFailed('default_timeout_in_minutes must not exceed maximum_timeout_in_minutes')
    }
    return wanted
  })

/** Does nothing when it is enabled already, so that it keeps who enabled it first. */
export const enable = ({ ctx, org, caller }: RequestContext, name: Toggle): Promise<SettingsRow> =>
  update({ ctx, org, caller }, 'ORGANIZATION_UPDATED', async (_trx, before) =>
    before[`${name}_enabled_at`] === null
      ? { [`${name}_enabled_at`]: ctx.now().toISOString(), [`${name}_enabled_by`]: caller.user.id }
      : {},
  )

export const disable = ({ ctx, org, caller }: RequestContext, name: Toggle): Promise<SettingsRow> =>
  update({ ctx, org, caller }, 'ORGANIZATION_UPDATED', async () => ({
    [`${name}_enabled_at`]: null,
    [`${name}_enabled_by`]: null,
  }))

export const enableBuildExport = (
  { ctx, org, caller }: RequestContext,
  { location, strategy_id }: EnableBuildExportBody,
): Promise<SettingsRow> =>
  update({ ctx, org, caller }, 'ORGANIZATION_BUILD_EXPORT_UPDATED', async () => ({
    build_export_location: location,
    build_export_strategy_id: strategy_id,
  }))

export const disableBuildExport = ({ ctx, org, caller }: RequestContext): Promise<SettingsRow> =>
  update({ ctx, org, caller }, 'ORGANIZATION_BUILD_EXPORT_UPDATED', async () => ({
    build_export_location: null,
    build_export_strategy_id: null,
  }))

/** `decide` runs while the settings are locked. */
async function update(
  { ctx, org, caller }: RequestContext,
  type: AuditType,
  decide: (trx: Trx, before: SettingsRow) => Promise<SettingsChange>,
): Promise<SettingsRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await pipelineSettings.lockOfOrg(trx, org.id)
    const wanted = await decide(trx, before)
    if (Object.keys(wanted).length === 0) return before
    await pipelineSettings.updateOfOrg(trx, org.id, wanted)
    const after = await pipelineSettings.getOfOrg(trx, org.id)
    const data = changedAttributes(before, after, audited)
    if (Object.keys(data).length === 0) return after
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type,
      subject: { type: 'Organization', uuid: org.id, name: org.name },
      data,
    })
    return after
  })
}

async function readCluster(trx: Trx, org: Organization, id: string | null): Promise<string | null> {
  if (id === null || id === '') return null
  if (isUuid(id) && (await clusters.holdInOrg(trx, org.id, id))) return id
  throw validationFailed('default_cluster_id must be the id of a cluster of this organization')
}
