// Renders builds, jobs and agents as the REST API shows them. resources/ may not be imported here, so worker.ts passes the
// implementation.
import type { ConditionFacts } from '@millrace/engine/conditions/facts.ts'
import type { Db } from '../../db/pool.ts'
import type { NotifyEntry } from '@millrace/engine/steps/types.ts'
import type { AuditEventShown, FailedJob, Person, Shown, StepSnapshot } from './message.ts'

/** By id; deleted ones are left out. All ids belong to these organizations. */
export type Render<T> = (db: Db, orgIds: readonly string[], ids: readonly string[]) => Promise<Map<string, T>>

export interface Snapshots {
  organizations(db: Db, ids: readonly string[]): Promise<Map<string, Shown>>
  /** Without jobs, environment and pipeline. */
  builds: Render<{ build: Shown; people: BuildPeople; triggers: readonly Shown[] }>
  pipelines: Render<Shown>
  jobs: Render<{ job: Shown; unblockedBy: Person | null }>
  /** By build. */
  failedJobs: Render<readonly FailedJob[]>
  agents: Render<Shown>
  /** The facts of builds that conditions may use. */
  facts(
    db: Db,
    builds: ReadonlyArray<{ orgId: string; buildId: string }>,
  ): Promise<Map<string, ConditionFacts>>
  clusterTokens: Render<Shown>
  /** By test. All of them are in these suites. */
  tests(
    db: Db,
    orgIds: readonly string[],
    suiteIds: readonly string[],
    ids: readonly string[],
  ): Promise<Map<string, { test: Shown; suite: Shown }>>
  budgets: Render<Shown>
  people: Render<Person>
  auditEvents: Render<AuditEventShown>
  /** Only steps that have entries in `notify`. */
  steps: Render<{ step: StepSnapshot; type: string; notify: readonly NotifyEntry[] }>
}

export interface BuildPeople {
  creator: Person | null
  canceledBy: Person | null
}
