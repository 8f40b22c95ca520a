// Finds a build by its address: `…/pipelines/:pipeline/builds/:build`.
import { sql } from 'kysely'
import type { Db } from '../../db/pool.ts'
import { notFound } from '../../lib/errors.ts'

interface BuildParams {
  pipeline: string
  /** The number. */
  build: string
}

export interface BuildAddress {
  id: string
  pipeline_id: string
  pipeline_slug: string
  number: number
  state: string
}

export async function findBuild(
  db: Db,
  orgId: string,
  { pipeline, build }: BuildParams,
): Promise<BuildAddress | undefined> {
  const { rows } = await sql<BuildAddress>`
    select b.id, b.pipeline_id, p.slug as pipeline_slug, b.number, b.state
    from pipelines p join builds b on b.pipeline_id = p.id
    where p.organization_id = ${orgId} and p.slug = ${pipeline} and b.number = ${build}::int`.execute(db)
  return rows[0]
}

export async function getBuild(db: Db, orgId: string, params: BuildParams): Promise<BuildAddress> {
  const build = await findBuild(db, orgId, params)
  if (build === undefined) throw notFound('No build found')
  return build
}
