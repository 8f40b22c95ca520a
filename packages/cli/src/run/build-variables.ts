// The variables of one build, for its jobs and for conditions.
import type { ConditionFacts } from '@millrace/engine/conditions/facts.ts'
import { jobEnvironment, standardVariables, type Env } from '@millrace/engine/environment.ts'
import type { Store } from '@millrace/engine/memory/store.ts'
import type { JobRow } from '@millrace/engine/rows.ts'
import type { PipelineDocument } from '@millrace/engine/steps/types.ts'
import type { Checkout } from './checkout.ts'
import { conditionFacts, describeBuild, describeJob, type BuildFacts } from './facts.ts'
import { getPlannedJob } from './job-lookup.ts'

export class BuildVariables {
  private readonly store: Store
  private readonly own: Env
  private facts: BuildFacts
  private uploaded: Env = {}

  constructor(store: Store, checkout: Checkout, own: Env) {
    this.store = store
    this.own = own
    this.facts = describeBuild(store.build.id, checkout)
  }

  /** The user who unblocks the build; null if git has no user. */
  get person(): BuildFacts['build']['creator'] {
    return this.facts.build.creator
  }

  /** For a document without conditions. */
  forNothing(): ConditionFacts {
    return conditionFacts(this.facts, this.store.build.state, {})
  }

  forJob(job: JobRow): Env {
    const planned = getPlannedJob(this.store, job)
    const standard = describeJob(this.facts, planned)
    return jobEnvironment({
      stored: {},
      build: this.own,
      uploaded: this.uploaded,
      work: planned.work,
      standard,
    })
  }

  /** The standard variables that conditions may read are the same in every job, so `job` may be any job. */
  forConditions(job: JobRow, document: PipelineDocument): ConditionFacts {
    const planned = getPlannedJob(this.store, job)
    return conditionFacts(this.facts, this.store.build.state, {
      ...this.own,
      ...this.uploaded,
      ...Object.fromEntries(document.env),
      ...standardVariables(planned.work, describeJob(this.facts, planned)),
    })
  }

  add(document: PipelineDocument): void {
    this.uploaded = { ...this.uploaded, ...Object.fromEntries(document.env) }
  }

  noteUnblock(): void {
    const { person } = this
    this.facts = { ...this.facts, unblocker: person === null ? null : { ...person, id: '' } }
  }
}
