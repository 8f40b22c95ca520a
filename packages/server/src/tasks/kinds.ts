// Every kind of background task with its payload. Kinds and handlers are separate files, so that code which enqueues a task
// does not import the code which carries it out.

/** The handler itself looks for what there is to do. */
type NoPayload = Record<string, never>

export interface Kinds {
  assign_shares: { queue_id: string; organization_id: string }
  check_budgets: NoPayload
  checkpoint_log: { job_id: string; organization_id: string }
  /** Without an organization the job is deleted already. */
  compact_log: { job_id: string; organization_id: string | null }
  expire_agents: NoPayload
  expire_audit_events: NoPayload
  expire_commits: NoPayload
  expire_deliveries: NoPayload
  expire_events: NoPayload
  expire_failed_rows: NoPayload
  expire_idempotency_keys: NoPayload
  expire_insights: NoPayload
  expire_invitations: NoPayload
  expire_log_chunks: NoPayload
  expire_log_findings: NoPayload
  expire_rate_limits: NoPayload
  expire_sessions: NoPayload
  expire_tests: NoPayload
  end_quarantines: NoPayload
  expire_webhook_deliveries: NoPayload
  /** Also enqueued for jobs that turn out not to have failed. */
  index_failure: { job_id: string; organization_id: string }
  label_tests: NoPayload
  make_partitions: NoPayload
  poll_repository: { pipeline_id: string; organization_id: string; claim: string }
  report_commit_statuses: { pipeline_id: string }
  report_overdue_statuses: NoPayload
  revoke_inactive_tokens: NoPayload
  sample_queues: NoPayload
  seal_plain_secrets: NoPayload
  set_test_owners: NoPayload
  /** The code of the invitation's link, sealed. */
  send_invitation: { invitation_id: string; organization_id: string; sealed: string; key_id: string }
  update_git_mirror: { git_mirror_id: string }
}

export type Kind = keyof Kinds

/** A task may run more than once, so every handler must be safe to repeat. */
export type Handlers<Context> = {
  readonly [K in Kind]: (context: Context, payload: Kinds[K]) => Promise<unknown>
}

type CronKind = { [K in Kind]: Kinds[K] extends NoPayload ? K : never }[Kind]

/**
 * When the kinds without a payload run: cron expressions in UTC. A time that passes while no worker runs is skipped, since
 * the next run finds the same work.
 */
export const schedule: Readonly<Record<CronKind, string>> = {
  check_budgets: '* * * * *',
  expire_agents: '37 * * * *',
  expire_audit_events: '41 * * * *',
  expire_commits: '47 3 * * *',
  expire_deliveries: '*/10 * * * *',
  expire_events: '43 * * * *',
  expire_failed_rows: '51 * * * *',
  expire_idempotency_keys: '*/15 * * * *',
  expire_insights: '27 * * * *',
  expire_invitations: '*/10 * * * *',
  expire_log_chunks: '47 * * * *',
  expire_log_findings: '53 * * * *',
  expire_rate_limits: '*/5 * * * *',
  expire_sessions: '*/15 * * * *',
  expire_tests: '57 2 * * *',
  end_quarantines: '* * * * *',
  expire_webhook_deliveries: '23 * * * *',
  label_tests: '* * * * *',
  make_partitions: '13 * * * *',
  report_overdue_statuses: '* * * * *',
  revoke_inactive_tokens: '7 * * * *',
  sample_queues: '* * * * *',
  seal_plain_secrets: '52 * * * *',
  set_test_owners: '* * * * *',
}
