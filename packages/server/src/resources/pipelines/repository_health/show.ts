import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import { webhookUrlOf } from '../pipelines/host-hooks.ts'
import { readHookState } from '../pipelines/hook-state.ts'
import type { PipelineRow } from '../pipelines/queries.ts'
import { findSecretTime } from '../pipelines/webhook-secrets.ts'
import * as connections from '../repository_connections/queries.ts'
import { presentHealth } from './present.ts'
import * as health from './queries.ts'
import type { RepositoryHealth } from './schema.ts'

/** Asks the host of the repository for the webhook, unless it was asked a moment ago. */
export async function showHealth(
  ctx: Context,
  orgId: string,
  pipeline: PipelineRow,
): Promise<Static<typeof RepositoryHealth>> {
  const state = await readHookState(ctx, orgId, pipeline)
  const connection = await connections.findOfRepository(ctx.db, orgId, pipeline.repository)
  return presentHealth(await health.getHealth(ctx.db, orgId, pipeline.id, ctx.now()), {
    ...state,
    url: webhookUrlOf(ctx, pipeline),
    provider: pipeline.provider_id,
    ownSecretAt: await findSecretTime(ctx.db, pipeline),
    hasSecret: (connection?.webhook_secret_sealed ?? null) !== null,
  })
}
