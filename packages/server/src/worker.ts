// The table of contents of background work: one handler per kind. A missing one does not compile.
import { agentWatcher } from './conductor/lost-agents.ts'
import { removeBuilds } from './conductor/remove-builds.ts'
import { sweep } from './conductor/sweep.ts'
import type { Context } from './context.ts'
import { inLongTransaction } from './db/batch.ts'
import { buildImages } from './resources/agent-images/build.ts'
import { sweepImages } from './resources/agent-images/sweep.ts'
import { updateMirrors } from './hosted/agents/mirrors.ts'
import { whileReachable } from './hosted/agents/reachable.ts'
import { reconcile, tidyEngine } from './hosted/agents/reconcile.ts'
import { switchReconciler } from './hosted/agents/switches.ts'
import { dropVolumes } from './hosted/agents/volumes.ts'
import { discardBlobs, expireArtifacts } from './resources/artifacts/expire.ts'
import { publishStatuses } from './resources/commit-statuses/publish.ts'
import { settleStatuses } from './resources/commit-statuses/settle.ts'
import { pollRepositories } from './resources/deliver/poll.ts'
import { forgetWebhookDeliveries } from './resources/deliver/queries.ts'
import { expireInvitations } from './resources/invitations/expire.ts'
import { revokeInactiveTokens } from './resources/access-token/revoke-inactive.ts'
import { forgetDeliveries } from './notifications/delivery/expire.ts'
import { startNotifications, type Notifications } from './notifications/start.ts'
import { compactLogs } from './resources/log/compact.ts'
import { sealPlainSecrets } from './resources/pipelines/seal-plain.ts'
import { fireDueSchedules } from './resources/schedules/fire.ts'
import { snapshotsOf } from './resources/services/snapshots.ts'
import { forgetAgents, forgetIdempotencyKeys, forgetRateLimits, forgetSessions } from './tasks/forget.ts'
import type { Handlers } from './tasks/kinds.ts'
import type { Poller } from './tasks/pollers.ts'

/** A statement that deletes all that is too old at once may take longer than those of requests. */
const deleteSeconds = 600

export const handlers: Handlers<Context> = {
  expire_invitations: (ctx) => expireInvitations(ctx.db),
  revoke_inactive_tokens: (ctx) => revokeInactiveTokens(ctx.db),
  forget_agents: (ctx) => forgetAgents(ctx.db, ctx.now(), ctx.config.agentDays),
  forget_idempotency_keys: (ctx) => inLongTransaction(ctx.db, deleteSeconds, forgetIdempotencyKeys),
  forget_rate_limits: (ctx) => inLongTransaction(ctx.db, deleteSeconds, forgetRateLimits),
  forget_sessions: (ctx) => inLongTransaction(ctx.db, deleteSeconds, forgetSessions),
  forget_webhook_deliveries: (ctx) => inLongTransaction(ctx.db, deleteSeconds, forgetWebhookDeliveries),
  forget_deliveries: (ctx) =>
    inLongTransaction(ctx.db, deleteSeconds, (trx) => forgetDeliveries(trx, ctx.now())),
  seal_plain_secrets: sealPlainSecrets,
}

/** Tells services what has happened, until it is stopped. */
export const startTelling = (ctx: Context): Notifications =>
  startNotifications(ctx, snapshotsOf(ctx.config.url))

/** What every worker looks for again and again. */
export const pollers: Readonly<Record<string, Poller<Context>>> = {
  sweep: { everySeconds: 1, run: sweep },
  agents: { everySeconds: 2, run: agentWatcher() },
  remove_builds: { everySeconds: 2, run: removeBuilds },
  fire_schedules: { everySeconds: 5, run: fireDueSchedules },
  settle_statuses: { everySeconds: 1, run: settleStatuses },
  publish_statuses: { everySeconds: 1, run: publishStatuses },
  poll_repositories: { everySeconds: 2, run: pollRepositories },
  compact_logs: { everySeconds: 10, run: compactLogs },
  reconcile_hosted: { everySeconds: 5, run: whileReachable(reconcile) },
  reconcile_switches: { everySeconds: 30, run: whileReachable(switchReconciler()) },
  tidy_hosted: { everySeconds: 300, run: whileReachable(tidyEngine) },
  update_git_mirrors: { everySeconds: 5, run: whileReachable(updateMirrors) },
  drop_cache_volumes: { everySeconds: 5, run: whileReachable(dropVolumes) },
  expire_artifacts: { everySeconds: 60, run: expireArtifacts },
  discard_blobs: { everySeconds: 30, run: discardBlobs },
  build_images: { everySeconds: 1, run: buildImages },
  sweep_images: { everySeconds: 60, run: sweepImages },
}
