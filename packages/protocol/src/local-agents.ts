// Messages between a server and the process of its local agents.

export interface LocalAgentStart {
  endpoint: string
  /** The registration token. */
  token: string
  count: number
  /** No other process runs agents in these folders. */
  isAlone: boolean
  /** For sockets that jobs reach too; null: the usual folder. */
  socketsPath: string | null
  jobs: LocalJobs
}

export type LocalJobs =
  | {
      /** Each job in a process of another identity, which cannot reach the agent or the server. */
      kind: 'separate'
      trusted: JobIdentity
      /** Apart from the others, so that nothing a fork leaves behind reaches a trusted job. */
      forks: JobIdentity
    }
  | {
      /** As the user of the agent and the server. Jobs of forks are refused with this sentence. */
      kind: 'unprotected'
      own: Pick<JobIdentity, 'buildPath' | 'environment'>
      refusal: string
    }

export interface JobIdentity {
  /** Command line in front of the program. */
  command: string[]
  /** null: as the agent. */
  user: { uid: number; gid: number } | null
  buildPath: string
  /** Variables that jobs inherit. */
  environment: Record<string, string>
}

/** The response of the process. */
export type LocalAgentAnswer = { kind: 'connected' } | { kind: 'failed'; reason: string }
