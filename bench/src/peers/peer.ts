// A continuous-integration server that is compared with others. Each has two agents, and one pipeline per script.

/** Shell commands. */
export interface Scripts {
  /** Does nothing. */
  noop: string
  /** Appends the time to a file. */
  began: string
  /** Prints the long log. */
  log: string
}

export interface Peer {
  name: string
  version: string
  isOurs: boolean
  /** The milliseconds until the server and its database answer, if they have run before in the folder. */
  measureStart(folder: string): Promise<number>
  start(folder: string, scripts: Scripts): Promise<RunningPeer>
}

export interface RunningPeer {
  /** The processes of the server, its database and its agents. */
  pids: readonly number[]
  trigger(script: keyof Scripts): Promise<void>
  /** Triggers a build that no agent can take. */
  triggerWaiting(): Promise<void>
  /** Waits until all builds with the script have finished. */
  allFinished(script: keyof Scripts): Promise<void>
  /** Inserts finished builds into the database. */
  fill(builds: number): Promise<void>
  /** Reads the newest 50 builds. */
  list(): Promise<void>
  stop(): Promise<void>
}
