import type { Static } from 'typebox'
import { eventClassName } from '../../../audit/types.ts'
import { graphqlId } from '../../../lib/ids.ts'
import type { AuditEventRow } from './queries.ts'
import type { AuditEvent } from './schema.ts'

export const presentAuditEvent = (
  url: string,
  orgSlug: string,
  event: AuditEventRow,
): Static<typeof AuditEvent> => ({
  uuid: event.id,
  graphql_id: graphqlId('AuditEvent', event.id),
  type: eventClassName(event.type),
  occurred_at: event.occurred_at,
  actor: event.actor,
  subject: event.subject,
  context: event.context,
  data: event.data,
  url: `${url}/v2/organizations/${orgSlug}/audit_events/${event.id}`,
})
