/** The agent's own log, not a job's. Messages are sentences; values to search by are fields. */
export interface AgentLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const silentLog: AgentLog = { info() {}, warn() {}, error() {} }
