// The table of contents of background work. A kind of task without a handler does not compile.
import { expireAuditEvents } from './audit/expire.ts'
import { assignSharesAgain } from './conductor/shares/share-key.ts'
import { agentTimes, agentWatcher } from './conductor/lost-agents.ts'
import { deleteBuilds, hasDeletedPipelines } from './conductor/delete-builds.ts'
import { agentChannel, queueChannel } from './conductor/dispatch/wake.ts'
import { rememberEstimates } from './conductor/estimates/remember.ts'
import { deadlines, hasSweep, sweep } from './conductor/sweep.ts'
import type { Config } from './config/config.ts'
import type { Context } from './context.ts'
import { retryTimes, type Loop } from './db/loops.ts'
import { makePartitions } from './db/partitions.ts'
import { expireEvents } from './events/expire.ts'
import { timed } from './lib/metrics.ts'
import { traced } from './lib/tracing.ts'
import { checkBudgets } from './resources/insights/budgets/check.ts'
import { expireInsights } from './resources/insights/insights/expire.ts'
import { foldJobEnds, hasJobEnds } from './resources/insights/insights/fold.ts'
import { sampleQueues } from './resources/insights/insights/sample-queues.ts'
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
import { expirePushes } from './webhooks/ledger-queries.ts'
import { enqueuePolls, pollAndContinue } from './webhooks/poll.ts'
import { hasPolls, pollTimes, reconcileSoon } from './webhooks/poll-queries.ts'
import { expireCommits, expireWebhookDeliveries } from './webhooks/queries.ts'
import * as invitations from './resources/people/invitations/queries.ts'
import { sendInvitation } from './resources/people/invitations/send-mail.ts'
import { revokeInactiveTokens } from './resources/people/access-token/revoke-inactive.ts'
import { expireDeliveries, expireMessages } from './notifications/delivery/expire.ts'
import { deliveryTimes } from './notifications/delivery/ordered-queues.ts'
import { startRelayAndDelivery, type Notifications } from './notifications/start.ts'
import { checkpointLog } from './resources/builds/log/rows/checkpoints.ts'
import { compactLog, logCompactor } from './resources/builds/log/ingest/compact.ts'
import { indexFailure } from './resources/builds/log/ingest/index-failure.ts'
import { expireFindings } from './resources/builds/log/findings/queries.ts'
import { expireLogChunks } from './resources/builds/log/ingest/expire-chunks.ts'
import { sealPlainSecrets } from './resources/pipelines/pipelines/seal-plain.ts'
import { expireAll } from './resources/builds/retention/run.ts'
import { expireTests } from './resources/tests/tests/expire.ts'
import { labelTests } from './resources/tests/tests/label-tests.ts'
import { endQuarantines } from './resources/tests/tests/quarantine.ts'
import { setOwners } from './resources/tests/tests/set-owners.ts'
import { fireDueSchedules } from './resources/pipelines/schedules/fire.ts'
import { hasDue, scheduleTimes } from './resources/pipelines/schedules/queries.ts'
import { loadSnapshots } from './resources/notifications/services/load-snapshots.ts'
import {
  expireAgents,
  expireFailedRows,
  expireIdempotencyKeys,
  expireRateLimits,
  expireSessions,
} from './tasks/expire.ts'
import type { Handlers, Kind } from './tasks/kinds.ts'
import type { Around } from './tasks/run.ts'
import { taskTimes } from './tasks/enqueue.ts'
import { startPauses, steadyPauses, workChannel, type Pauses, type SleepingPauses } from './tasks/pauses.ts'
import type { Poller } from './tasks/pollers.ts'

export const handlers: Handlers<Context> = {
  assign_shares: assignSharesAgain,
  check_budgets: checkBudgets,
  checkpoint_log: checkpointLog,
  compact_log: compactLog,
  expire_agents: (ctx) => expireAgents(ctx, ctx.config.agentDays),
  expire_audit_events: (ctx) => expireAuditEvents(ctx.db, ctx.now(), ctx.config.auditDays),
  expire_commits: expireCommits,
  expire_deliveries: async (ctx) => {
    await expireDeliveries(ctx)
    await expireMessages(ctx.db, ctx.now())
  },
  expire_events: (ctx) => expireEvents(ctx.db, ctx.now(), ctx.config.eventDays),
  expire_failed_rows: expireFailedRows,
  expire_idempotency_keys: expireIdempotencyKeys,
  expire_insights: expireInsights,
  expire_invitations: invitations.expireOverdue,
  expire_log_chunks: (ctx) => expireLogChunks(ctx.db, ctx.now()),
  expire_log_findings: (ctx) => expireFindings(ctx.db, ctx.now(), ctx.config.logFindingDays),
  expire_rate_limits: expireRateLimits,
  expire_sessions: expireSessions,
  expire_tests: expireTests,
  end_quarantines: endQuarantines,
  index_failure: indexFailure,
  label_tests: labelTests,
  expire_webhook_deliveries: async (ctx) => {
    await expireWebhookDeliveries(ctx)
    await expirePushes(ctx)
  },
  make_partitions: (ctx) => makePartitions(ctx.db, ctx.now(), ctx.log),
  poll_repository: pollAndContinue,
  report_commit_statuses: reportStatuses,
  report_overdue_statuses: enqueueOverdueReports,
  revoke_inactive_tokens: revokeInactiveTokens,
  sample_queues: sampleQueues,
  seal_plain_secrets: sealPlainSecrets,
  send_invitation: sendInvitation,
  set_test_owners: setOwners,
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

/** A short one finds a lost agent in time, and shows soon enough that the database answers (conductor/lost-agents.ts). */
const longestSleepMs = ({ timers }: Config): number => Math.min(20_000, timers.agentLostSeconds * 250)

/** What wakes a worker that sleeps. */
export const wakingChannels: readonly string[] = [workChannel, queueChannel, agentChannel]

export const startWorkerPauses = (ctx: Context): SleepingPauses =>
  startPauses({
    log: ctx.log,
    db: ctx.db,
    nextTimes: [
      agentTimes(ctx.config),
      deadlines,
      deliveryTimes,
      pollTimes,
      retryTimes,
      scheduleTimes,
      taskTimes,
    ],
    longestSleepMs: longestSleepMs(ctx.config),
  })

export const reconcileAtStart = (ctx: Context): Promise<void> =>
  reconcileSoon(ctx.db, ctx.now().toISOString())

/** Delivers notifications until it is stopped. */
export const startNotifications = (ctx: Context, pauses: Pauses = steadyPauses): Notifications =>
  startRelayAndDelivery(ctx, loadSnapshots(ctx.config.url), pauses)

interface OverRows {
  /** The loops over rows of several organizations that this runs (db/loops.ts), or why no row can stop the others. */
  rows: readonly Loop[] | string
}

const oneRow = 'Each task has a row of its own.'
const partitions = 'Partitions have rows of all organizations.'

/**
 * Work that is no queue of tasks. The sweep, lost agents, schedules, polls of repositories and images are looked for more
 * often than cron can. Statuses follow from the outbox, whose cursor must move in the same transaction. The database itself
 * notes deleted pipelines, so no code could enqueue their builds. Reconciling compares whole lists. Logs are compacted, and
 * volumes, artifacts, objects and what retention finds deleted, in batches of any number, and a poller runs only once at a time.
 */
export const pollers: Readonly<Record<string, Poller<Context> & OverRows>> = {
  sweep: { everySeconds: 1, hasWork: hasSweep, run: sweep, rows: ['deadlines', 'follow_ups'] },
  agents: { everySeconds: 2, run: agentWatcher(), rows: ['agents_silent', 'agents_paused', 'jobs_lost'] },
  delete_builds: {
    everySeconds: 2,
    hasWork: hasDeletedPipelines,
    run: deleteBuilds,
    rows: ['builds_deleted'],
  },
  remember_estimates: { everySeconds: 10, run: rememberEstimates, rows: ['queue_estimates'] },
  fire_schedules: { everySeconds: 1, hasWork: hasDue, run: fireDueSchedules, rows: ['schedules'] },
  update_statuses: {
    everySeconds: 1,
    hasWork: hasTouchedBuilds,
    run: updateStatuses,
    rows: ['commit_statuses'],
  },
  fold_job_ends: { everySeconds: 2, hasWork: hasJobEnds, run: foldJobEnds, rows: ['job_ends'] },
  enqueue_polls: { everySeconds: 2, hasWork: hasPolls, run: enqueuePolls, rows: ['polls', 'polls_changed'] },
  compact_logs: { everySeconds: 2, run: logCompactor(), rows: ['logs', 'log_chunks'] },
  reconcile_hosted: {
    everySeconds: 5,
    isSteady: true,
    run: logEngineOutage(reconcile),
    rows: ['hosted_containers', 'hosted_volumes', 'mirrors'],
  },
  reconcile_shared_volumes: {
    everySeconds: 30,
    isSteady: true,
    run: logEngineOutage(sharedVolumeReconciler()),
    rows: ['shared_volumes'],
  },
  tidy_hosted: {
    everySeconds: 300,
    isSteady: true,
    run: logEngineOutage(tidyEngine),
    rows: 'The engine tidies itself.',
  },
  expire_cache_volumes: {
    everySeconds: 5,
    isSteady: true,
    run: logEngineOutage(expireVolumes),
    rows: ['cache_volumes'],
  },
  expire_caches: {
    everySeconds: 60,
    run: expireCaches,
    rows: ['caches_unused', 'caches_over_limit', 'cache_blobs_unused', 'cache_blobs_expired'],
  },
  fail_missing_artifacts: { everySeconds: 60, run: failMissingArtifacts, rows: ['artifacts_missing'] },
  retention: { everySeconds: 60, run: expireAll, rows: ['retention', 'retention_of_tests'] },
  delete_unused_blobs: { everySeconds: 30, run: deleteUnusedBlobs, rows: ['blobs'] },
  build_images: { everySeconds: 1, isSteady: true, run: buildImages, rows: ['agent_images'] },
  sweep_images: {
    everySeconds: 60,
    isSteady: true,
    run: sweepImages,
    rows: ['agent_images_stuck', 'agent_images_lost'],
  },
}

/** Without an engine for hosted agents, nothing is to be done with it. */
export const neededPollers = ({ hosted }: Context): typeof pollers =>
  hosted === null
    ? Object.fromEntries(Object.entries(pollers).filter(([, { isSteady }]) => !isSteady))
    : pollers

/** The same for tasks. */
export const rowsOfTasks: Readonly<Record<Kind, OverRows['rows']>> = {
  assign_shares: oneRow,
  check_budgets: ['budgets'],
  checkpoint_log: oneRow,
  compact_log: oneRow,
  expire_agents: ['agents_expired'],
  expire_audit_events: partitions,
  expire_commits: ['commits'],
  expire_deliveries: ['deliveries_expired'],
  expire_events: partitions,
  expire_failed_rows: 'It deletes rows of the loops themselves.',
  expire_idempotency_keys: ['idempotency_keys'],
  expire_insights: 'Nothing refers to the rows that it deletes.',
  expire_invitations: ['invitations'],
  expire_log_chunks: partitions,
  expire_log_findings: 'Nothing refers to the rows that it deletes.',
  expire_rate_limits: ['rate_limits'],
  expire_sessions: [
    'sessions',
    'sso_starts',
    'oauth_codes',
    'oauth_devices',
    'exchanged_tokens',
    'refresh_tokens',
    'sign_in_links',
  ],
  expire_tests: ['tests'],
  end_quarantines: ['quarantines'],
  index_failure: oneRow,
  label_tests: ['test_labels'],
  expire_webhook_deliveries: ['webhook_deliveries', 'repository_pushes'],
  make_partitions: partitions,
  poll_repository: oneRow,
  report_commit_statuses: ['status_reports'],
  report_overdue_statuses: 'It only reads, and enqueues a task for each pipeline.',
  revoke_inactive_tokens: ['tokens_inactive'],
  sample_queues: 'It only counts, and writes rows of its own.',
  seal_plain_secrets: ['secrets'],
  send_invitation: oneRow,
  set_test_owners: ['test_owners'],
  update_git_mirror: oneRow,
}

/** Loops that run beside tasks and pollers. */
export const rowsElsewhere: Readonly<Record<string, readonly Loop[]>> = {
  'notifications/outbox/relay.ts': ['outbox'],
  'notifications/delivery/deliverer.ts': ['deliveries'],
  'hosted-agents/control-loop.ts': [
    'hosted_agents_due',
    'hosted_agents_ended',
    'hosted_jobs',
    'hosted_jobs_refused',
    'hosted_jobs_waiting',
    'hosted_queues_warm',
  ],
  'auth/agent-activity.ts': ['agent_activity'],
  'auth/track-use.ts': ['token_use', 'session_use'],
}
