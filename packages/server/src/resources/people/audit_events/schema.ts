import { Type } from 'typebox'
import { cursorList, orNull, text, Timestamp, Uuid } from '../../schema.ts'

export const AuditEvent = Type.Object(
  {
    uuid: Uuid,
    graphql_id: Type.String(),
    type: Type.String({ examples: ['OrganizationUpdatedEvent'], description: 'Kind of the event.' }),
    occurred_at: Timestamp,
    actor: Type.Union(
      [
        Type.Object({
          type: text('Kind of the actor.'),
          uuid: Uuid,
          name: text('Name of the actor at that time.'),
        }),
        Type.Null(),
      ],
      {
        description: 'Who did it; null when the installation itself or its operator did.',
      },
    ),
    subject: Type.Object(
      {
        type: text('Kind of the subject.'),
        uuid: Uuid,
        name: orNull(text('Name of the subject at that time; null when it has none.')),
      },
      { description: 'What the event is about.' },
    ),
    context: Type.Union(
      [Type.Object({ type: text('Kind of the context.') }, { additionalProperties: true }), Type.Null()],
      {
        description: 'From where it was done; the fields beside `type` depend on it.',
      },
    ),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The attributes that changed, as they are afterwards, and in `previous` as they were before an update; never a secret.',
    }),
    url: Type.String(),
  },
  { title: 'AuditEvent' },
)

const Time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

export const AuditEventQuery = {
  type: Type.Optional(Type.String({ description: 'Events of this type, such as `TeamCreatedEvent`.' })),
  actor: Type.Optional(Type.String({ format: 'uuid', description: 'What the person with this UUID did.' })),
  subject: Type.Optional(Type.String({ format: 'uuid', description: 'Events about what has this UUID.' })),
  from: Time('Events from this time on.'),
  to: Time('Events before this time.'),
  q: Type.Optional(
    Type.String({ description: 'Part of the name of the actor or of the subject, in any case.' }),
  ),
}

export const AuditEventList = cursorList(AuditEvent, 'AuditEventList')
