// The session of an agent: from registering to disconnecting.

export interface RegisterRequest {
  /** May hold `%hostname`, `%pid` and `%random`, which the server fills in; empty for a name of its choice. */
  name: string
  hostname: string
  os: string
  arch: string
  version: string
  build: string
  script_eval_enabled: boolean
  /** The agent takes one named job and is never offered another. */
  ignore_in_dispatches: boolean
  /** An integer as text; absent is the lowest. */
  priority?: string
  /** Tags, `key=value` or a bare key; `queue=<key>` chooses the queue. */
  meta_data: string[] | null
  pid?: number
  machine_id?: string
  features: string[]
}

export interface RegisterResponse {
  id: string
  name: string
  access_token: string
  /** Replaces the base address from now on, when it is not empty. */
  endpoint?: string
  request_headers?: RequestHeaders | null
  /** Whole seconds, at least 1; so are the two below. */
  ping_interval: number
  heartbeat_interval: number
  job_status_interval: number
  meta_data: string[]
  tracing?: Tracing
}

/** Headers to send with every later call. Only names that start with `Buildkite-` count. */
export type RequestHeaders = Record<string, string>

export interface Tracing {
  backend: 'opentelemetry'
  propagate_traceparent: boolean
  exporter?: { endpoint: string; protocol: string; headers?: Record<string, string> }
}

export interface HeartbeatRequest {
  sent_at: string
}

export interface HeartbeatResponse {
  sent_at?: string
  received_at?: string
}

export type PingAction = 'disconnect' | 'pause'

export interface PingResponse {
  /** Any other text, or none, means idle. */
  action?: string
  message?: string
  job?: { id: string }
  endpoint?: string
  request_headers?: RequestHeaders | null
}

export interface StopRequest {
  force?: boolean
}

export interface PauseRequest {
  note?: string
  timeout_in_minutes?: number
}

/** Whose registration token this is. */
export interface TokenResponse {
  uuid: string
  description: string
  token_type: string
  organization_slug: string
  organization_uuid: string
  cluster_uuid: string
  cluster_name: string
  organization_queue_uuid: string
  organization_queue_key: string
}
