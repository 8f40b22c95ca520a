// Tells the source host that a commit needs no build. A required check that nobody answers would block its merge for ever.
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { newId } from '../lib/ids.ts'
import * as statuses from '../resources/builds/commit-statuses/queries.ts'
import { enqueueReports } from '../resources/builds/commit-statuses/report.ts'
import { contextOfPipeline } from '../resources/builds/commit-statuses/rules.ts'
import { hostSettings } from '../source-hosts/settings.ts'
import { findBuilt, type Target } from './queries.ts'
import type { NotNeeded } from './rules.ts'

/** GitHub takes no longer descriptions. */
const longestDescription = 140

/** A build of the commit, and what it has published, stay as they are. */
export async function publishNotNeeded(
  trx: Trx,
  ctx: Context,
  target: Target,
  { commit, isForPullRequest }: NotNeeded,
  reason: string,
): Promise<void> {
  const settings = hostSettings(target.provider_settings)
  if (!settings.publish_commit_status || !settings.publish_status_when_not_built) return
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return
  if ((await findBuilt(trx, target, commit, null)) !== null) return
  const isNew = await statuses.insertNotNeeded(
    trx,
    { organizationId: target.organization_id, pipelineId: target.id },
    {
      id: newId(),
      commit,
      context: contextOfPipeline(target.slug, isForPullRequest, settings),
      description: `not needed: ${reason}`.slice(0, longestDescription).toWellFormed(),
    },
    ctx.now().toISOString(),
  )
  if (isNew) await enqueueReports(trx, [target.id])
}
