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
      /** Each job in a sandbox of its own. */
      kind: 'sandboxed'
      /** The folders of jobs. No job reaches it, only folders in it. */
      folder: string
      /** In the order of the agents' numbers. */
      agents: { trusted: SandboxedJobs; forks: SandboxedJobs }[]
    }
  | {
      /** As another user than the agent, without a sandbox. Jobs of forks are refused with this sentence. */
      kind: 'other-user'
      user: JobUser
      paths: JobPaths
      refusal: string
    }
  | {
      /** As the user of the agent and the server. Jobs of forks are refused with this sentence. */
      kind: 'unprotected'
      paths: Pick<JobPaths, 'buildPath' | 'environment'>
      refusal: string
    }

export interface JobUser {
  uid: number
  gid: number
}

export interface JobPaths {
  buildPath: string
  /** Variables that jobs inherit. */
  environment: Record<string, string>
  node: string
  /** The compiled program of a job's process. */
  program: string
}

export interface SandboxedJobs {
  /**
   * Command line in front of a program. It runs in a folder made for one job, with the folders `tmp`, `builds` and `root`, and
   * shows the first two to the program.
   */
  command: string[]
  /** Command line that empties `tmp` and `builds` of such a folder. It sees nothing else that can be written. */
  empty: string[]
  /** Folders that the sandbox has if they exist when it is made. */
  optional: string[]
  /** The owner of what a job can write; null: the user of the agent. */
  user: JobUser | null
  /** The name below `builds` of the folder that a pipeline's next job gets again. Absent for forks. */
  workspace: string
  keepsWorkspaces: boolean
  /** Paths in the sandbox. */
  paths: JobPaths & { socketsPath: string; missingHint: string }
}

/** The response of the process. */
export type LocalAgentAnswer = { kind: 'connected' } | { kind: 'failed'; reason: string }
