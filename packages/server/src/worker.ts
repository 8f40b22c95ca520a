// The table of contents of background work. A kind of task without a handler does not compile.
import { expireAuditEvents } from './audit/expire.ts'
import { agentWatcher } from './conductor/lost-agents.ts'
import { deleteBuilds, hasDeletedPipelines } from './conductor/delete-builds.ts'
import { hasSweep, sweep } from './conductor/sweep.ts'
import type { Context } from './context.ts'
import { makePartitions } from './db/partitions.ts'
import { inLongTransaction } from './db/transaction.ts'
import { expireEvents } from './events/expire.ts'
import { timed } from './lib/metrics.ts'
import { traced } from './lib/tracing.ts'
import { buildImages } from './resources/clusters/agent-images/build.ts'
import { sweepImages } from './resources/clusters/agent-images/sweep.ts'
import { updateMirror } from './hosted-agents/mirrors.ts'
import { expireVolumes } from './hosted-agents/cache-volumes.ts'
import { logEngineOutage } from './hosted-agents/engine-outage.ts'
import { reconcile, tidyEngine } from './hosted-agents/reconcile.ts'
import { sharedVolumeReconciler } from './hosted-agents/shared-volumes.ts'
import { deleteUnusedBlobs, failMissingArtifacts } from './resources/builds/artifacts/expire.ts'
import { expireCaches } from './resources/pipelines/caches/expire.ts'
import { enqueueOverdueReports, reportStatuses } from './resources/builds/commit-statuses/report.ts'
import { hasTouchedBuilds } from './resources/builds/commit-statuses/queries.ts'
import { updateStatuses } from './resources/builds/commit-statuses/update-statuses.ts'
import { enqueuePolls, pollAndContinue } from './webhooks/poll.ts'
import { hasPolls } from './webhooks/poll-queries.ts'
import { expireCommits, expireWebhookDeliveries } from './webhooks/queries.ts'
import * as invitations from './resources/people/invitations/queries.ts'
import { sendInvitation } from './resources/people/invitations/send-mail.ts'
import { revokeInactiveTokens } from './resources/people/access-token/revoke-inactive.ts'
import { expireDeliveries, expireMessages } from './notifications/delivery/expire.ts'
import { startRelayAndDelivery, type Notifications } from './notifications/start.ts'
import { checkpointLog } from './resources/builds/log/rows/checkpoints.ts'
import { compactLog, logCompactor } from './resources/builds/log/ingest/compact.ts'
import { expireLogChunks } from './resources/builds/log/ingest/expire-chunks.ts'
import { sealPlainSecrets } from './resources/pipelines/pipelines/seal-plain.ts'
import { expireAll } from './resources/builds/retention/run.ts'
import { fireDueSchedules } from './resources/pipelines/schedules/fire.ts'
import { hasDue } from './resources/pipelines/schedules/queries.ts'
import { loadSnapshots } from './resources/notifications/services/load-snapshots.ts'
import { expireAgents, expireIdempotencyKeys, expireRateLimits, expireSessions } from './tasks/expire.ts'
import type { Handlers } from './tasks/kinds.ts'
import type { Around } from './tasks/run.ts'
import type { Poller } from './tasks/pollers.ts'

/** A statement that deletes everything that is too old may take longer than the statements of requests. */
const deleteSeconds = 600

export const handlers: Handlers<Context> = {
  checkpoint_log: checkpointLog,
  compact_log: compactLog,
  expire_agents: (ctx) => expireAgents(ctx.db, ctx.now(), ctx.config.agentDays),
  expire_audit_events: (ctx) => expireAuditEvents(ctx.db, ctx.now(), ctx.config.auditDays),
  expire_commits: (ctx) => expireCommits(ctx.db),
  expire_deliveries: async (ctx) => {
    await inLongTransaction(ctx.db, deleteSeconds, (trx) => expireDeliveries(trx, ctx.now()))
    await expireMessages(ctx.db, ctx.now())
  },
  expire_events: (ctx) => expireEvents(ctx.db, ctx.now(), ctx.config.eventDays),
  expire_idempotency_keys: (ctx) => inLongTransaction(ctx.db, deleteSeconds, expireIdempotencyKeys),
  expire_invitations: (ctx) => invitations.expireOverdue(ctx.db),
  expire_log_chunks: (ctx) => expireLogChunks(ctx.db, ctx.now()),
  expire_rate_limits: (ctx) => inLongTransaction(ctx.db, deleteSeconds, expireRateLimits),
  expire_sessions: (ctx) => inLongTransaction(ctx.db, deleteSeconds, expireSessions),
  expire_webhook_deliveries: (ctx) => inLongTransaction(ctx.db, deleteSeconds, expireWebhookDeliveries),
  make_partitions: (ctx) => makePartitions(ctx.db, ctx.now(), ctx.log),
  poll_repository: pollAndContinue,
  report_commit_statuses: reportStatuses,
  report_overdue_statuses: enqueueOverdueReports,
  revoke_inactive_tokens: (ctx) => revokeInactiveTokens(ctx.db),
  seal_plain_secrets: sealPlainSecrets,
  send_invitation: sendInvitation,
  update_git_mirror: updateMirror,
}

export const aroundTasks =
  ({ metrics, tracer }: Context): Around =>
  async (kind, run) => {
    metrics.tasksRunning.inc({ kind })
    const span = {
      name: `task ${kind}`,
      kind: 'consumer',
      attributes: { 'millrace.task.kind': kind },
    } as const
    try {
      return await timed(metrics.tasks, { kind }, () => traced(tracer, span, run))
    } finally {
      metrics.tasksRunning.dec({ kind })
    }
  }

export const aroundPollers =
  ({ metrics }: Context): Around =>
  (poller, run) =>
    timed(metrics.pollers, { poller }, run)

/** Delivers notifications until it is stopped. */
export const startNotifications = (ctx: Context): Notifications =>
  startRelayAndDelivery(ctx, loadSnapshots(ctx.config.url))

/**
 * Work that is no queue of tasks. The sweep, lost agents, schedules, polls of repositories and images are looked for more
 * often than cron can. Statuses follow from the outbox, whose cursor must move in the same transaction. The database itself
 * notes deleted pipelines, so no code could enqueue their builds. Reconciling compares whole lists. Logs are compacted, and
 * volumes, artifacts, objects and what retention finds deleted, in batches of any number, and a poller runs only once at a time.
 */
export const pollers: Readonly<Record<string, Poller<Context>>> = {
  sweep: { everySeconds: 1, hasWork: hasSweep, run: sweep },
  agents: { everySeconds: 2, run: agentWatcher() },
  delete_builds: { everySeconds: 2, hasWork: hasDeletedPipelines, run: deleteBuilds },
  fire_schedules: { everySeconds: 1, hasWork: hasDue, run: fireDueSchedules },
  update_statuses: { everySeconds: 1, hasWork: hasTouchedBuilds, run: updateStatuses },
  enqueue_polls: { everySeconds: 2, hasWork: hasPolls, run: enqueuePolls },
  compact_logs: { everySeconds: 2, run: logCompactor() },
  reconcile_hosted: { everySeconds: 5, run: logEngineOutage(reconcile) },
  reconcile_shared_volumes: { everySeconds: 30, run: logEngineOutage(sharedVolumeReconciler()) },
  tidy_hosted: { everySeconds: 300, run: logEngineOutage(tidyEngine) },
  expire_cache_volumes: { everySeconds: 5, run: logEngineOutage(expireVolumes) },
  expire_caches: { everySeconds: 60, run: expireCaches },
  fail_missing_artifacts: { everySeconds: 60, run: failMissingArtifacts },
  retention: { everySeconds: 60, run: expireAll },
  delete_unused_blobs: { everySeconds: 30, run: deleteUnusedBlobs },
  build_images: { everySeconds: 1, run: buildImages },
  sweep_images: { everySeconds: 60, run: sweepImages },
}
