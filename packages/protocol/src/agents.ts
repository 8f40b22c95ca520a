// The session of an agent: from registering to disconnecting.
import { Type, type Static } from 'typebox'
import { maybe, unread } from './maybe.ts'

const Text = maybe(Type.String({ maxLength: 10_000 }))

export const RegisterRequest = Type.Object({
  /** May hold `%hostname`, `%pid` and `%random`, which the server fills in; empty for a name of its choice. */
  name: Text,
  hostname: Text,
  os: Text,
  arch: Text,
  version: Text,
  build: Text,
  script_eval_enabled: unread,
  /** The agent takes one named job and is never offered another. */
  ignore_in_dispatches: maybe(Type.Boolean()),
  /** An integer as text; absent is the lowest. */
  priority: maybe(
    Type.String({ pattern: '^(-?\\d{1,9})?$', description: 'must be a whole number of at most 9 digits' }),
  ),
  /** Tags, `key=value` or a bare key; `queue=<key>` chooses the queue. */
  meta_data: maybe(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 500 })),
  pid: maybe(Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
  machine_id: Text,
  features: maybe(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 500 })),
})
export type RegisterRequest = Static<typeof RegisterRequest>

/** Headers to send with every later call. Only names that start with `Buildkite-` count. */
export const RequestHeaders = Type.Record(Type.String(), Type.String())
export type RequestHeaders = Static<typeof RequestHeaders>

export const RegisterResponse = Type.Object({
  id: Type.String(),
  name: Type.String(),
  access_token: Type.String(),
  /** Replaces the base address from now on, when it is not empty. */
  endpoint: Type.Optional(Type.String()),
  request_headers: maybe(RequestHeaders),
  /** Whole seconds, at least 1; so are the two below. */
  ping_interval: Type.Integer(),
  heartbeat_interval: Type.Integer(),
  job_status_interval: Type.Integer(),
  meta_data: Type.Array(Type.String()),
  tracing: Type.Optional(
    Type.Object({
      backend: Type.Literal('opentelemetry'),
      propagate_traceparent: Type.Boolean(),
      exporter: Type.Optional(
        Type.Object({
          endpoint: Type.String(),
          protocol: Type.String(),
          headers: Type.Optional(RequestHeaders),
        }),
      ),
    }),
  ),
})
export type RegisterResponse = Static<typeof RegisterResponse>

export const HeartbeatRequest = Type.Object({ sent_at: maybe(Type.String({ maxLength: 100 })) })
export type HeartbeatRequest = Static<typeof HeartbeatRequest>

export const HeartbeatResponse = Type.Object({
  sent_at: Type.Optional(Type.String()),
  received_at: Type.Optional(Type.String()),
})
export type HeartbeatResponse = Static<typeof HeartbeatResponse>

export const PingResponse = Type.Object({
  /** `disconnect` or `pause`. Any other text, or none, means idle. */
  action: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  job: Type.Optional(Type.Object({ id: Type.String() })),
  endpoint: Type.Optional(Type.String()),
  request_headers: maybe(RequestHeaders),
})
export type PingResponse = Static<typeof PingResponse>

export const StopRequest = Type.Object({ force: maybe(Type.Boolean()) })
export type StopRequest = Static<typeof StopRequest>

export const PauseRequest = Type.Object({
  note: maybe(Type.String({ maxLength: 1000 })),
  timeout_in_minutes: maybe(Type.Integer({ minimum: 0, maximum: 10_080 })),
})
export type PauseRequest = Static<typeof PauseRequest>

/** The registration token of the request. */
export const TokenResponse = Type.Object({
  uuid: Type.String(),
  description: Type.String(),
  token_type: Type.String(),
  organization_slug: Type.String(),
  organization_uuid: Type.String(),
  cluster_uuid: Type.String(),
  cluster_name: Type.String(),
  organization_queue_uuid: Type.String(),
  organization_queue_key: Type.String(),
})
export type TokenResponse = Static<typeof TokenResponse>
