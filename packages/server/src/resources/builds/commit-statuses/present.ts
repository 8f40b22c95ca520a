import type { Static } from 'typebox'
import type { StatusRow } from './queries.ts'
import type { CommitStatus } from './schema.ts'

export const presentStatus = (status: StatusRow): Static<typeof CommitStatus> => ({
  id: status.id,
  context: status.context,
  state: status.state,
  description: status.description,
  commit: status.commit,
  changed_at: status.changed_at,
  delivered_at: status.delivered_at,
  attempts: status.attempts,
  next_attempt_at: status.next_attempt_at,
  error: status.error,
})
