// The suite of a pipeline, for results that its steps name. It is made with the first of them.
import { sql } from 'kysely'
import type { Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import { hashToken, newId, newToken } from '../../../lib/ids.ts'
import type { SendingSuite } from './queries.ts'

export async function suiteOfPipeline(trx: Trx, orgId: string, pipelineId: string): Promise<SendingSuite> {
  // The slug may be taken by a suite of another origin.
  for (const suffix of ['', `-${pipelineId.slice(0, 8)}`]) {
    const found = await find(trx, orgId, pipelineId)
    if (found !== undefined) return found
    await insert(trx, orgId, pipelineId, suffix)
  }
  const made = await find(trx, orgId, pipelineId)
  if (made === undefined) throw notFound('No pipeline found')
  return made
}

async function find(trx: Trx, orgId: string, pipelineId: string): Promise<SendingSuite | undefined> {
  const { rows } = await sql<SendingSuite>`
    select s.id, s.slug, o.id as "organizationId", o.slug as "organizationSlug"
    from test_suites s join organizations o on o.id = s.organization_id
    where s.organization_id = ${orgId} and s.pipeline_id = ${pipelineId}`.execute(trx)
  return rows[0]
}

/** Does nothing where the pipeline has a suite, or the slug is taken. Nobody learns the suite's token. */
async function insert(trx: Trx, orgId: string, pipelineId: string, suffix: string): Promise<void> {
  await sql`
    insert into test_suites (id, organization_id, name, slug, default_branch, token_hash, pipeline_id)
    select ${newId()}, p.organization_id, p.name, p.slug || ${suffix}::text, p.default_branch,
      ${hashToken(newToken('mrst_'))}, p.id
    from pipelines p where p.organization_id = ${orgId} and p.id = ${pipelineId}
    on conflict do nothing`.execute(trx)
}
