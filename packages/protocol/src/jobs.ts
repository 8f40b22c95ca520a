// One job between its agent and the server.
import { Type, type Static } from 'typebox'
import { maybe, unread } from './maybe.ts'

const Texts = Type.Record(Type.String(), Type.String())

export const JobSignature = Type.Object({
  algorithm: Type.String(),
  signed_fields: Type.Array(Type.String()),
  value: Type.String(),
})
export type JobSignature = Static<typeof JobSignature>

/** The step as it was uploaded; further keys pass through. */
export const JobStep = Type.Intersect([
  Type.Object({
    command: Type.Optional(Type.String()),
    env: Type.Optional(Texts),
    plugins: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
    /** Never null. The variable is the key itself when absent. */
    secrets: Type.Optional(
      Type.Array(Type.Object({ key: Type.String(), environment_variable: Type.Optional(Type.String()) })),
    ),
    matrix: Type.Optional(Type.Unknown()),
    cache: Type.Optional(Type.Unknown()),
    checkout: Type.Optional(Type.Unknown()),
    /** Patterns of files with test results. Public servers do not send them. */
    test_results: Type.Optional(Type.Array(Type.String())),
    signature: Type.Optional(JobSignature),
  }),
  Type.Record(Type.String(), Type.Unknown()),
])
export type JobStep = Static<typeof JobStep>

/** The answer to accept and acquire. */
export const Job = Type.Object({
  id: Type.String(),
  /** The whole environment; every value is text. */
  env: Texts,
  /** For every further call about this job; the session's token when absent. */
  token: Type.Optional(Type.String()),
  /** More than 0. */
  chunks_max_size_bytes: Type.Integer(),
  /** The same for agents that send a larger chunk only when a job prints faster. Public agents do not know this. */
  large_chunks_max_size_bytes: Type.Optional(Type.Integer()),
  chunks_interval_seconds: Type.Optional(Type.Number()),
  /** Whether the report of the end may carry the last chunk. Public servers do not say this. */
  takes_last_chunk: Type.Optional(Type.Boolean()),
  log_max_size_bytes: Type.Optional(Type.Integer()),
  step: Type.Optional(JobStep),
  /** The chosen value of every dimension; the unnamed one is ''. */
  matrix_permutation: Type.Optional(Texts),
  runnable_at: Type.Optional(Type.String()),
  priority: Type.Optional(Type.Integer()),
  traceparent: Type.Optional(Type.String()),
  tracestate: Type.Optional(Type.String()),
  /** `running`: the accept asked for a start, and the job is started. */
  state: Type.Optional(Type.String()),
  /** The build is of a fork that is not trusted; absent when it is not. Public agents do not know this. */
  from_fork: Type.Optional(Type.Boolean()),
  /** The server relays the repository below the address of the job. Only to agents with the feature `repository-relay`. */
  repository_relay: Type.Optional(Type.Boolean()),
})
export type Job = Static<typeof Job>

export const AcceptRequest = Type.Object({
  /** Whether the job is started as well. A server that does not know this leaves `state` out of its answer. */
  start: maybe(Type.Boolean()),
})
export type AcceptRequest = Static<typeof AcceptRequest>

export const StartRequest = Type.Object({
  /** RFC 3339, UTC. The server takes its own time. */
  started_at: unread,
})
export type StartRequest = Static<typeof StartRequest>

export const JobStateResponse = Type.Object({
  /** The agent stops the job at `canceling`, `canceled`, `timing_out` and `timed_out`. */
  state: Type.String(),
})
export type JobStateResponse = Static<typeof JobStateResponse>

const Text = maybe(Type.String({ maxLength: 255 }))

export const FinishRequest = Type.Object({
  /** A decimal number as text: -1 when the command never ran or died of a signal. */
  exit_status: Text,
  signal: Text,
  signal_reason: Text,
  finished_at: unread,
  chunks_failed_count: maybe(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  /** The end of the log, so that a short job needs no request for it. Public agents do not send this. */
  last_chunk: maybe(
    Type.Object({
      sequence: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
      offset: Type.Integer({ minimum: 0, maximum: 2 ** 50 }),
      /** The bytes, with gzip, in Base64. */
      gzip: Type.String(),
    }),
  ),
  /** Offer nothing more to this agent. */
  ignore_agent_in_dispatches: maybe(Type.Boolean()),
})
export type FinishRequest = Static<typeof FinishRequest>

/** The reasons an agent gives; servers add `stack_error` and `agent_incompatible` of their own. */
export type AgentSignalReason =
  | 'cancel'
  | 'agent_stop'
  | 'agent_refused'
  | 'process_run_error'
  | 'signature_rejected'

export const JobUpdateRequest = Type.Object({
  timeout: maybe(
    Type.String({
      pattern: '^[1-9]\\d{0,6}$',
      description: 'must be a number of minutes from 1 to 9999999',
    }),
  ),
})
export type JobUpdateRequest = Static<typeof JobUpdateRequest>

export const JobUpdateResponse = Type.Object({ id: Type.String() })
export type JobUpdateResponse = Static<typeof JobUpdateResponse>

export const PromiseFailureRequest = Type.Object({
  exit_status: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  reason: maybe(Type.String({ maxLength: 10_000 })),
})
export type PromiseFailureRequest = Static<typeof PromiseFailureRequest>
