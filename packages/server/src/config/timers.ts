// Times of agents, jobs and schedules.
import { integer, subject, type Reader } from './settings.ts'

export const timerSettings = subject('Agents, jobs and schedules', {
  MILLRACE_AGENT_LOST_SECONDS: integer(
    { absent: 180, from: 1, to: 86_400 },
    'Time without a request after which an agent is lost. On a streaming agent, a job without any request since its start ends after the same time, and a job that has made requests before ends after twice the time. Raise it if `pre-bootstrap` hooks of streaming agents take longer',
  ),
  MILLRACE_ACCEPT_SECONDS: integer(
    { absent: 60, from: 1, to: 86_400 },
    'How long a job waits until the agent it was offered to accepts it',
  ),
  MILLRACE_PING_HOLD_SECONDS: integer(
    { absent: 4, from: 0, to: 30 },
    "How long the server holds an agent's ping open before it answers that there is no work; 0 to 30",
  ),
  MILLRACE_CANCEL_GRACE_SECONDS: integer(
    { absent: 60, from: 1, to: 86_400 },
    'How long a stopping job may take',
  ),
  MILLRACE_JOB_EXPIRY_DAYS: integer(
    { absent: 30, from: 1, to: 3650 },
    'When a job that no agent took expires',
  ),
  MILLRACE_JOB_DAYS: integer(
    { absent: 7, from: 1, to: 3650 },
    'When a running job without a time limit of its own is stopped. Its agent may be connected and yet never report its end',
  ),
  // Less than a minute, so that a schedule of every minute misses none.
  MILLRACE_SCHEDULE_SPREAD_SECONDS: integer(
    { absent: 10, from: 0, to: 50 },
    'When more than 20 schedules are due at the same time, they fire within so many seconds, each always at the same second; 0 to 50, 0 for all at once. `next_build_at` shows the time without it',
  ),
})

export type Timers = ReturnType<typeof readTimers>['timers']

export function readTimers(reader: Reader) {
  const values = reader.read(timerSettings)
  return {
    timers: {
      agentLostSeconds: values.MILLRACE_AGENT_LOST_SECONDS,
      acceptSeconds: values.MILLRACE_ACCEPT_SECONDS,
      pingHoldSeconds: values.MILLRACE_PING_HOLD_SECONDS,
      cancelGraceSeconds: values.MILLRACE_CANCEL_GRACE_SECONDS,
      jobExpiryDays: values.MILLRACE_JOB_EXPIRY_DAYS,
      jobDays: values.MILLRACE_JOB_DAYS,
    },
    scheduleSpreadSeconds: values.MILLRACE_SCHEDULE_SPREAD_SECONDS,
  }
}
