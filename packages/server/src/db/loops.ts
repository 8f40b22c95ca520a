// Every loop of the background over rows of several organizations, with what one row of it is. each-row.ts takes only loops that
// are listed here, and a property test makes one row of each fail for good: the others must advance.
import { sql } from 'kysely'

export const loops = {
  agent_activity: 'an agent that was heard',
  agent_images: 'an agent image to be built',
  agent_images_lost: 'an agent image that the engine has lost',
  agent_images_stuck: 'a deletion of an agent image that was not completed',
  agents_expired: 'an agent that has been gone for long',
  agents_paused: 'a paused agent whose time is over',
  agents_silent: 'an agent that fell silent',
  artifacts_missing: 'an artifact whose file never arrived',
  blobs: 'an object that no row refers to',
  builds_deleted: 'a deleted pipeline whose builds are left',
  cache_volumes: 'a cache volume to be deleted',
  caches_over_limit: 'a pipeline or organization whose caches are too large',
  caches_unused: 'a cache that no job uses',
  cache_blobs_unused: 'a blob that no cache needs any more',
  cache_blobs_expired: 'a blob that no cache has needed for hours',
  commit_statuses: 'a build with events',
  commits: 'a commit that is forgotten',
  deadlines: 'a job whose deadline has passed',
  deliveries: 'an attempt to deliver a notification',
  deliveries_expired: 'a delivery that is kept no longer',
  exchanged_tokens: 'a token that was exchanged and has expired',
  follow_ups: 'a follow-up of a change that was not carried out',
  hosted_agents_due: 'a hosted agent to be started or stopped',
  hosted_agents_ended: 'a hosted agent whose job has ended',
  hosted_containers: 'a container of a hosted agent',
  hosted_jobs: 'a job of a hosted queue',
  hosted_jobs_refused: 'a job that no hosted agent can run',
  hosted_jobs_waiting: 'a job whose hosted agent has not been offered it',
  hosted_queues_warm: 'a hosted queue with warm agents',
  hosted_volumes: 'a volume that has no row, or a row whose volume is lost',
  idempotency_keys: 'an answer that is kept no longer',
  invitations: 'an invitation that is overdue',
  jobs_lost: 'a job whose agent is gone, or that fell silent itself',
  log_chunks: 'a log whose job is deleted',
  logs: 'the log of a job that has ended',
  mirrors: 'a git mirror whose update has ended',
  oauth_codes: 'a code that has expired',
  oauth_devices: 'a code of a device that has expired',
  outbox: 'an event of the outbox',
  polls: 'a poll that is due',
  polls_changed: 'a poll whose pipeline has changed',
  rate_limits: 'a count that has expired',
  refresh_tokens: 'a refresh token that has expired',
  repository_pushes: 'a movement of a branch or tag that is kept no longer',
  retention: 'a pipeline with something to expire',
  retention_of_tests: 'an organization with test runs to expire',
  schedules: 'a schedule that is due',
  secrets: 'a pipeline with a secret in plain text',
  sessions: 'a session that has expired',
  session_use: 'a session that was used',
  shared_volumes: 'a cluster whose shared volumes differ from its settings',
  sign_in_links: 'a link that has expired',
  sso_starts: 'a sign-in that was not completed',
  status_reports: 'a commit status or comment to be reported',
  quarantines: 'a test whose quarantine is over',
  test_labels: 'a suite with new results',
  tests: 'a suite with tests that no longer run',
  token_use: 'a token that was used',
  tokens_inactive: 'a token that was idle for long',
  webhook_deliveries: 'an incoming webhook that is kept no longer',
} as const

export type Loop = keyof typeof loops

/** Loops that would not find a failed row again by themselves. Its entry is all that is left of it, so it is never expired. */
export const replayed = ['commit_statuses', 'outbox'] as const satisfies readonly Loop[]

/** For tasks/pauses.ts: when rows that have failed are tried again. */
export const retryTimes = sql<string | null>`select next_try_at from failed_rows`
