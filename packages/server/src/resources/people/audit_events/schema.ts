import { Type } from 'typebox'
import { CursorLinks, orNull, Timestamp, Uuid } from '../../schema.ts'

export const AuditEvent = Type.Object(
  {
    uuid: Uuid,
    graphql_id: Type.String(),
    type: Type.String({ examples: ['OrganizationUpdatedEvent'] }),
    occurred_at: Timestamp,
    actor: Type.Union([Type.Object({ type: Type.String(), uuid: Uuid, name: Type.String() }), Type.Null()], {
      description: 'Who did it; null when the installation itself or its operator did.',
    }),
    subject: Type.Object({
      type: Type.String(),
      uuid: Uuid,
      name: orNull(Type.String()),
    }),
    context: Type.Union([Type.Object({ type: Type.String() }, { additionalProperties: true }), Type.Null()], {
      description: 'From where it was done; the fields beside `type` depend on it.',
    }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The attributes that changed, as they are afterwards; never a secret.',
    }),
    url: Type.String(),
  },
  { title: 'AuditEvent' },
)

export const AuditEventList = Type.Object(
  {
    items: Type.Array(AuditEvent),
    links: CursorLinks,
  },
  { title: 'AuditEventList' },
)
