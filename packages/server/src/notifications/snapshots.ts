// How things look to those who are told. The shapes are the REST API's, which stands above this folder, so whoever
// starts the relay hands in who draws them.
import type { Db } from '../db/pool.ts'
import type { FailedJob, Person, Shown } from './message.ts'

/** By id; what is gone is left out. All ids are of these organizations. */
export type Draw<T> = (db: Db, orgIds: readonly string[], ids: readonly string[]) => Promise<Map<string, T>>

export interface Snapshots {
  organizations(db: Db, ids: readonly string[]): Promise<Map<string, Shown>>
  /** Without jobs, environment and pipeline. */
  builds: Draw<{ build: Shown; people: BuildPeople; triggers: readonly Shown[] }>
  pipelines: Draw<Shown>
  jobs: Draw<{ job: Shown; unblockedBy: Person | null }>
  /** By build. */
  failedJobs: Draw<readonly FailedJob[]>
  agents: Draw<Shown>
  clusterTokens: Draw<Shown>
}

export interface BuildPeople {
  creator: Person | null
  canceledBy: Person | null
}
