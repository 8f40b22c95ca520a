import type { Context } from '../../../context.ts'
import * as deployKeys from './queries.ts'

/** The private half; null: the pipeline has no deploy key. */
export async function findDeployKey(ctx: Context, orgId: string, pipelineId: string): Promise<string | null> {
  const key = await deployKeys.findSealed(ctx.db, orgId, pipelineId)
  return key === undefined ? null : ctx.keys.open(key.private_key_sealed, key.private_key_id)
}
