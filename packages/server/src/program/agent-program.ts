import type { LocalJobs } from '@millrace/protocol/local-agents.ts'

/** Where the users of jobs can read it. */
export interface AgentProgram {
  node: string
  /** The package, with its `dist`. */
  folder: string
}

export interface JobSeparation {
  program: AgentProgram
  /** null: the agent's default folder, which jobs can reach. */
  socketsPath: string | null
  /** Variables of the agents' process. */
  environment: Record<string, string>
  jobs: LocalJobs
}
