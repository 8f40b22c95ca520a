// One job between its agent and the server.

/** What accept and acquire answer. */
export interface Job {
  id: string
  /** The whole environment; every value is text. */
  env: Record<string, string>
  /** For every further call about this job; the session's token when absent. */
  token?: string
  /** More than 0. */
  chunks_max_size_bytes: number
  chunks_interval_seconds?: number
  log_max_size_bytes?: number
  step?: JobStep
  /** The chosen value of every dimension; the unnamed one is ''. */
  matrix_permutation?: Record<string, string>
  runnable_at?: string
  priority?: number
  traceparent?: string
  tracestate?: string
  /** `running`: it was asked for, and done, that the job is started too. */
  state?: string
  /** The build is of a fork that is not trusted; absent when it is not. Public agents do not know this. */
  from_fork?: boolean
}

export interface AcceptRequest {
  /** Whether the job is started as well. A server that does not know this leaves `state` out of its answer. */
  start: boolean
}

/** The step as it was uploaded; further keys pass through. */
export interface JobStep {
  command?: string
  env?: Record<string, string>
  plugins?: Array<Record<string, unknown>>
  /** Never null. */
  secrets?: JobSecret[]
  matrix?: unknown
  cache?: unknown
  checkout?: unknown
  signature?: JobSignature
  [key: string]: unknown
}

export interface JobSecret {
  key: string
  /** The key itself when absent. */
  environment_variable?: string
}

export interface JobSignature {
  algorithm: string
  signed_fields: string[]
  value: string
}

export interface StartRequest {
  /** RFC 3339, UTC. */
  started_at: string
}

export interface JobStateResponse {
  /** The agent stops the job at `canceling`, `canceled`, `timing_out` and `timed_out`. */
  state: string
}

export interface FinishRequest {
  /** A decimal number as text: -1 when the command never ran or died of a signal. */
  exit_status: string
  signal?: string
  signal_reason?: AgentSignalReason
  finished_at: string
  chunks_failed_count: number
  /** Offer nothing more to this agent. */
  ignore_agent_in_dispatches?: boolean
}

/** The reasons an agent gives; servers add `stack_error` and `agent_incompatible` of their own. */
export type AgentSignalReason =
  | 'cancel'
  | 'agent_stop'
  | 'agent_refused'
  | 'process_run_error'
  | 'signature_rejected'

/** One attribute, such as `{timeout: '20'}`. */
export type JobUpdateRequest = Record<string, string>

export interface JobUpdateResponse {
  id: string
}

export interface PromiseFailureRequest {
  /** Positive. */
  exit_status: number
  reason?: string
}
