import { sql, type RawBuilder } from 'kysely'
import { release } from '../../../blobs/unclaimed.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as retention from './queries.ts'
import { addOne } from './report.ts'
import {
  artifactsOf,
  dueArtifactsOfOpenBuilds,
  policies,
  strippableBuilds,
  type Position,
} from './selection.ts'
import type { Step } from './step.ts'

const buildsAtOnce = 50
const filesAtOnce = 500

interface Expired {
  finished_at: string
  bytes: number
  blob_key: string
}

/** Expires the files of some builds. The rows stay until their builds are deleted. */
export const expireArtifacts: Step = async ({ db }, pipeline, terms, report) => {
  const { organizationId, pipelineId } = pipeline
  const scope = { organizationId, pipelineIds: [pipelineId] }
  const expired = await inTransaction(db, async (trx) => {
    const { rows: builds } = await sql<Position>`
      with ${policies(scope, terms)}
      select b.id, b.finished_at from policy p
      cross join lateral (${strippableBuilds('artifacts', { after: null, limit: buildsAtOnce })}) b
      order by b.finished_at, b.id`.execute(trx)
    const last = builds.at(-1)
    if (last === undefined) return null
    const ids = builds.map(({ id }) => id)
    const due = sql`
      select f.artifact_id, b.finished_at from builds b cross join lateral (${artifactsOf}) f
      where b.organization_id = ${organizationId} and b.id = any (${ids}::uuid[]) limit ${filesAtOnce}`
    const files = await expire(trx, organizationId, due)
    if (files.length === filesAtOnce) return { files, hasMore: true }
    await retention.moveOn(trx, organizationId, pipelineId, 'artifacts', last)
    return { files, hasMore: builds.length === buildsAtOnce }
  })
  for (const file of expired?.files ?? []) addOne(report.artifacts, file)
  return expired?.hasMore ?? false
}

export const expireArtifactsOfOpenBuilds: Step = async (
  { db },
  { organizationId, pipelineId },
  terms,
  report,
) => {
  const scope = { organizationId, pipelineIds: [pipelineId] }
  const files = await inTransaction(db, (trx) =>
    expire(
      trx,
      organizationId,
      sql`
        with ${policies(scope, terms)}
        select f.artifact_id, f.finished_at from policy p
        cross join lateral (${dueArtifactsOfOpenBuilds(filesAtOnce)}) f`,
    ),
  )
  for (const file of files) addOne(report.artifacts, file)
  return files.length === filesAtOnce
}

async function expire(trx: Trx, orgId: string, due: RawBuilder<unknown>): Promise<Expired[]> {
  const { rows } = await sql<Expired>`
    with due as materialized (
      select a.id, a.blob_key, a.file_size as bytes, d.finished_at
      from (${due}) d join artifacts a on a.id = d.artifact_id
      where a.organization_id = ${orgId} and a.state = 'finished' and a.blob_key is not null
      order by a.id for update of a)
    update artifacts a set state = 'expired', blob_key = null from due where a.id = due.id
    returning due.finished_at, due.bytes, due.blob_key`.execute(trx)
  await release(
    trx,
    rows.map(({ blob_key }) => blob_key),
  )
  return rows
}
