// Programs that start an agent for each job, such as the controller of a Kubernetes cluster.
import { Type, type Static } from 'typebox'
import { maybe } from './maybe.ts'

export const StackRegisterRequest = Type.Object({
  key: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,80}$',
    description: 'must be at most 80 letters, digits, dashes and underscores',
  }),
  type: Type.Union(['kubernetes', 'elastic', 'custom'].map((type) => Type.Literal(type))),
  queue_key: Type.String({ maxLength: 255 }),
  metadata: maybe(Type.Record(Type.String(), Type.String({ maxLength: 256 }), { maxProperties: 100 })),
})

const JobIds = Type.Array(Type.String(), { maxItems: 1000 })

export const BatchReserveRequest = Type.Object({
  job_uuids: JobIds,
  reservation_expiry_seconds: maybe(Type.Integer({ minimum: 0, maximum: 3600 })),
})

export const JobStatesRequest = Type.Object({ job_uuids: JobIds })

export const StackFinishRequest = Type.Object({
  exit_status: maybe(Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
  detail: Type.String({ minLength: 1 }),
})

export const StackNotification = Type.Object({
  job_uuid: maybe(Type.String()),
  detail: maybe(Type.String()),
  timestamp: maybe(Type.String()),
})
export type StackNotification = Static<typeof StackNotification>

export const StackNotificationsRequest = Type.Object({
  notifications: Type.Array(StackNotification, { maxItems: 1000 }),
})
