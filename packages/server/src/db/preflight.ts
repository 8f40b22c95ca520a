// Builds of work trees that are not committed (`millrace build create --preflight`).
import { sql } from 'kysely'

/**
 * For queries with `builds b`. Such a build says nothing of a branch: badges, trends and commit statuses leave it out, and chats,
 * mails and issue trackers are not told of it.
 */
export const isPreflight = sql<boolean>`coalesce(b.env ->> 'BUILDKITE_PREFLIGHT' = 'true', false)`
