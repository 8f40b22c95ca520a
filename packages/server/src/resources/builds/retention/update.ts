import { changedAttributes, recordAudit, type Origin } from '../../../audit/record.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import * as pipelines from '../../pipelines/pipelines/queries.ts'
import * as retention from './queries.ts'
import { readSettings, settingNames, type OwnSettings } from './rules.ts'
import type { UpdateRetentionBody } from './schema.ts'

export const updateOrganizationRetention = (
  db: Db,
  origin: Origin,
  org: { id: string; name: string },
  body: UpdateRetentionBody,
): Promise<OwnSettings> =>
  inTransaction(db, async (trx) => {
    const before = await retention.lockOfOrg(trx, org.id)
    await retention.updateOfOrg(trx, org.id, readSettings(body))
    const after = await retention.getOfOrg(trx, org.id)
    await recordAudit(trx, origin, {
      organizationId: org.id,
      type: 'ORGANIZATION_RETENTION_UPDATED',
      subject: { type: 'Organization', uuid: org.id, name: org.name },
      data: changedAttributes(before, after, settingNames),
    })
    return after
  })

export const updatePipelineRetention = (
  db: Db,
  origin: Origin,
  orgId: string,
  pipeline: retention.PipelineName,
  body: UpdateRetentionBody,
): Promise<OwnSettings> =>
  inTransaction(db, async (trx) => {
    // It may have been deleted since the caller found it.
    if ((await pipelines.holdInOrg(trx, orgId, pipeline.id)) === undefined)
      throw notFound('No pipeline found')
    const before = await retention.lockOfPipeline(trx, orgId, pipeline.id)
    await retention.updateOfPipeline(trx, orgId, pipeline.id, readSettings(body))
    const after = await retention.getOfPipeline(trx, orgId, pipeline.id)
    await recordAudit(trx, origin, {
      organizationId: orgId,
      type: 'PIPELINE_RETENTION_UPDATED',
      subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.slug },
      data: changedAttributes(before, after, settingNames),
    })
    return after
  })
