// How things look to those who are told. The shapes are the REST API's, which stands above this folder, so whoever
// starts the relay hands in who draws them.
import type { ConditionFacts } from '@millrace/engine/conditions/facts.ts'
import type { Db } from '../../db/pool.ts'
import type { NotifyEntry } from '@millrace/engine/steps/types.ts'
import type { FailedJob, Person, Shown, ToldStep } from './message.ts'

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
  /** What conditions may know of builds. */
  facts(
    db: Db,
    builds: ReadonlyArray<{ orgId: string; buildId: string }>,
  ): Promise<Map<string, ConditionFacts>>
  clusterTokens: Draw<Shown>
  /** Without those that ask for nothing. */
  steps: Draw<{ step: ToldStep; type: string; notify: readonly NotifyEntry[] }>
}

export interface BuildPeople {
  creator: Person | null
  canceledBy: Person | null
}
