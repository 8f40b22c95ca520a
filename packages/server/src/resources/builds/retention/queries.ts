import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { isFree, leaseEnd } from '../../../tasks/lease.ts'
import { settingNames, type OwnSettings } from './rules.ts'

const columns = sql.join(settingNames.map((name) => sql.ref(name)))
const nothingSet: OwnSettings = {
  build_days: null,
  log_days: null,
  artifact_days: null,
  archive_days: null,
  keep_newest_builds: null,
  archive_builds: null,
}

/** An organization without a row has set nothing. */
export async function getOfOrg(db: Db, orgId: string): Promise<OwnSettings> {
  const { rows } = await sql<OwnSettings>`
    select ${columns} from organization_retention where organization_id = ${orgId}`.execute(db)
  return rows[0] ?? nothingSet
}

export async function getOfPipeline(db: Db, orgId: string, pipelineId: string): Promise<OwnSettings> {
  const { rows } = await sql<OwnSettings>`
    select ${columns} from pipeline_retention
    where organization_id = ${orgId} and pipeline_id = ${pipelineId}`.execute(db)
  return rows[0] ?? nothingSet
}

/** Until the transaction ends, no other transaction updates the settings. */
export async function lockOfOrg(trx: Trx, orgId: string): Promise<OwnSettings> {
  await sql`
    insert into organization_retention (organization_id) values (${orgId})
    on conflict (organization_id) do nothing`.execute(trx)
  await sql`
    select from organization_retention where organization_id = ${orgId} for no key update`.execute(trx)
  return getOfOrg(trx, orgId)
}

export async function lockOfPipeline(trx: Trx, orgId: string, pipelineId: string): Promise<OwnSettings> {
  await sql`
    insert into pipeline_retention (pipeline_id, organization_id) values (${pipelineId}, ${orgId})
    on conflict (pipeline_id) do nothing`.execute(trx)
  await sql`
    select from pipeline_retention
    where organization_id = ${orgId} and pipeline_id = ${pipelineId} for no key update`.execute(trx)
  return getOfPipeline(trx, orgId, pipelineId)
}

export async function updateOfOrg(trx: Trx, orgId: string, change: Partial<OwnSettings>): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx.updateTable('organization_retention').set(change).where('organization_id', '=', orgId).execute()
}

export async function updateOfPipeline(
  trx: Trx,
  orgId: string,
  pipelineId: string,
  change: Partial<OwnSettings>,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx
    .updateTable('pipeline_retention')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('pipeline_id', '=', pipelineId)
    .execute()
}

export interface PipelineName {
  id: string
  slug: string
}

export async function listPipelines(db: Db, orgId: string): Promise<PipelineName[]> {
  return db
    .selectFrom('pipelines')
    .select(['id', 'slug'])
    .where('organization_id', '=', orgId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function findPipeline(db: Db, orgId: string, slug: string): Promise<PipelineName | undefined> {
  return db
    .selectFrom('pipelines')
    .select(['id', 'slug'])
    .where('organization_id', '=', orgId)
    .where('slug', '=', slug)
    .executeTakeFirst()
}

/** Longer than a batch takes. A lease that runs out costs work done twice, and nothing else. */
const leaseSeconds = 120

/** False: another process is at work on the pipeline. */
export async function claimPipeline(db: Db, orgId: string, pipelineId: string): Promise<boolean> {
  const { rows } = await sql`
    insert into retention_progress as r (pipeline_id, organization_id, leased_until)
    select p.id, p.organization_id, ${leaseEnd(sql`now()`, leaseSeconds)}
    from pipelines p where p.organization_id = ${orgId} and p.id = ${pipelineId}
    on conflict (pipeline_id) do update set leased_until = excluded.leased_until
      where ${isFree('r.leased_until', sql`now()`)}
    returning r.pipeline_id`.execute(db)
  return rows.length > 0
}

export async function renewClaim(db: Db, orgId: string, pipelineId: string): Promise<void> {
  await sql`
    update retention_progress set leased_until = ${leaseEnd(sql`now()`, leaseSeconds)}
    where organization_id = ${orgId} and pipeline_id = ${pipelineId}`.execute(db)
}

export async function releaseClaim(db: Db, orgId: string, pipelineId: string): Promise<void> {
  await sql`
    update retention_progress set leased_until = null
    where organization_id = ${orgId} and pipeline_id = ${pipelineId}`.execute(db)
}

/** Builds that ended up to this position have no logs, or no artifacts, any more. */
export async function moveOn(
  trx: Trx,
  orgId: string,
  pipelineId: string,
  kind: 'logs' | 'artifacts',
  { finished_at, id }: { finished_at: string; id: string },
): Promise<void> {
  await sql`
    update retention_progress
    set ${sql.ref(`${kind}_through`)} = ${finished_at}, ${sql.ref(`${kind}_through_id`)} = ${id}
    where organization_id = ${orgId} and pipeline_id = ${pipelineId}`.execute(trx)
}
