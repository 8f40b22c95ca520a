import type { Static } from 'typebox'
import { instructionsFor, type HookState } from '../../../source-hosts/hooks.ts'
import type { HealthRow } from './queries.ts'
import type { RepositoryHealth } from './schema.ts'

interface ShownHook extends HookState {
  /** What the host must call. */
  url: string
  provider: string
  hasSecret: boolean
  ownSecretAt: string | null
}

export const presentHealth = (row: HealthRow, hook: ShownHook): Static<typeof RepositoryHealth> => ({
  hook: {
    registered: hook.registered,
    reason: hook.reason,
    events: hook.events,
    url: hook.url,
    has_secret: hook.hasSecret,
    own_secret_created_at: hook.ownSecretAt,
    instructions: instructionsFor(hook.provider),
    can_test: hook.canTest,
    checked_at: hook.checkedAt,
  },
  last_delivery:
    row.received_at === null
      ? null
      : {
          received_at: row.received_at,
          event: row.event ?? '',
          status: row.status ?? 0,
          message: row.message ?? '',
        },
  reconciled_at: row.polled_at,
  next_reconcile_at: row.next_poll_at,
  reconcile_error: row.error,
  refs_waiting: row.refs_waiting ?? 0,
  pull_requests_read_at: row.pulls_read_at,
  pull_requests_error: row.pulls_error,
  pushes_last_7_days: row.pushes,
  pushes_without_delivery_last_7_days: row.undelivered,
})
