// The stream that sends an agent its instructions. Each message is one frame: a zero byte, the length as four bytes
// (most significant first), and the message in protobuf. The request has the agent's id in field 1.

export const STREAM_PINGS_PATH = '/agentedge.v1.AgentEdgeService/StreamPings'

/** Exactly one of fields 2 to 5 of the response. */
export type StreamPingsResponse =
  | { action: 'resume' }
  | { action: 'pause'; reason: string }
  | { action: 'disconnect'; reason: string }
  | { action: 'job'; job_id: string }

/** Field numbers of the oneof in a response. */
export const STREAM_PINGS_FIELDS = { resume: 2, pause: 3, disconnect: 4, job: 5 } as const
