import { sql } from 'kysely'
import type { StepRow } from '@millrace/engine/rows.ts'
import { isPreflight } from '../../../db/preflight.ts'
import { selectFields, stepColumns } from '../../../conductor/rows.ts'
import type { Db } from '../../../db/pool.ts'

interface BadgePipeline {
  id: string
  organization_id: string
}

/** The token also identifies the organization. */
export async function findPipeline(db: Db, badgeToken: string): Promise<BadgePipeline | undefined> {
  const { rows } = await sql<BadgePipeline>`
    select id, organization_id from pipelines where badge_token = ${badgeToken}`.execute(db)
  return rows[0]
}

/** A blocked build counts as its block says. One that was canceled or skipped says nothing of the code. */
export async function findNewestEnded(
  db: Db,
  { id, organization_id }: BadgePipeline,
  branch: string | undefined,
): Promise<{ id: string; state: 'passed' | 'failed' } | undefined> {
  const { rows } = await sql<{ id: string; state: 'passed' | 'failed' }>`
    select b.id, b.shown_state as state from builds b
    where b.organization_id = ${organization_id} and b.pipeline_id = ${id}
      and (${branch ?? null}::text is null or b.branch = ${branch ?? null})
      and b.shown_state in ('passed', 'failed') and not ${isPreflight}
    order by b.created_at desc, b.id desc limit 1`.execute(db)
  return rows[0]
}

export async function listSteps(
  db: Db,
  { organization_id }: BadgePipeline,
  buildId: string,
  name: string,
): Promise<StepRow[]> {
  const { rows } = await sql<StepRow>`
    select ${selectFields('s', stepColumns)} from build_steps s
    where s.organization_id = ${organization_id} and s.build_id = ${buildId}
      and (s.key = ${name} or s.definition ->> 'label' = ${name})`.execute(db)
  return rows
}
