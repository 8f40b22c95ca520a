import type { Static } from 'typebox'
import { mask } from '../../../lib/masks.ts'
import type { Target } from '../../../notifications/outbox/targets.ts'
import type { AttemptRow } from '../deliveries/queries.ts'
import { presentAttempt } from '../deliveries/present.ts'
import type { BuildDeliveryRow } from './queries.ts'
import type { BuildAttempt, BuildDelivery } from './schema.ts'

export const presentBuildDelivery = (
  buildUrl: string,
  delivery: BuildDeliveryRow,
): Static<typeof BuildDelivery> => ({
  id: delivery.id,
  url: `${buildUrl}/deliveries/${delivery.id}`,
  build_url: buildUrl,
  kind: delivery.target.kind,
  to: shownAddress(delivery.target),
  event: delivery.event,
  state: delivery.state,
  attempts_count: delivery.attempts,
  error: delivery.error,
  next_attempt_at: delivery.next_attempt_at,
  occurred_at: delivery.occurred_at,
  created_at: delivery.created_at,
  finished_at: delivery.finished_at,
})

/** The path of a URL and the key of a pager may be secrets. */
function shownAddress({ kind, to, workspace }: Target): string {
  if (kind === 'email') return to
  if (kind === 'slack') return `${workspace ?? ''}${to}`
  if (kind === 'pagerduty_change_event' || !URL.canParse(to)) return mask(to)
  const { protocol, host, pathname, search } = new URL(to)
  return `${protocol}//${host}/${mask(`${pathname}${search}`.slice(1))}`
}

/**
 * Without the responses: the author of a pipeline chooses the addresses of its webhooks, and must not read through them what
 * is open only to the installation.
 */
export function presentBuildAttempt(attempt: AttemptRow): Static<typeof BuildAttempt> {
  const { exchanges: _, ...shown } = presentAttempt(attempt)
  return shown
}
