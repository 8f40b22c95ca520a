// The present state of a watched build, and what each message of the server changes in it.
import { fillStepLabel } from '@millrace/engine/labels/step-label.ts'
import { oneLine } from '../text.ts'
import { readJob, stageOf, type Graph, type GraphStep, type ShortBuild, type ShortJob } from './graph.ts'
import type { WatchedJob } from './graph.ts'

export type Change =
  | { kind: 'build'; build: ShortBuild }
  | { kind: 'job'; job: WatchedJob; before: WatchedJob | null }

/** The part of a `changes` event that a watched build needs. */
export interface Changes {
  builds?: readonly ShortBuild[]
  jobs?: ReadonlyArray<{ build_id: string; job: ShortJob }>
  graphs?: readonly string[]
}

export class WatchedBuild {
  build: ShortBuild
  steps: readonly GraphStep[] = []
  private readonly jobs = new Map<string, WatchedJob>()
  private jobIdsByStep = new Map<string, string[]>()
  private stepsById = new Map<string, GraphStep>()

  constructor({ build }: Pick<Graph, 'build'>) {
    this.build = { ...build, state: '' }
  }

  /** Replaces everything, and returns what is new. */
  load(graph: Graph): Change[] {
    this.steps = graph.steps
    this.stepsById = new Map(graph.steps.map((step) => [step.id, step]))
    const changes = graph.jobs.flatMap((job) => this.setJob(readJob(job)))
    this.jobIdsByStep = new Map()
    for (const { id, stepId } of graph.jobs.map(readJob)) this.listOf(stepId).push(id)
    return [...changes, ...this.setBuild(graph.build)]
  }

  /** Ignores other builds. The end of the build comes after the changes of its jobs. */
  apply({ builds = [], jobs = [] }: Changes): Change[] {
    const changes = jobs
      .filter((each) => each.build_id === this.build.id)
      .map((each) => readJob(each.job))
      // A graph follows when steps were uploaded, and brings their jobs.
      .filter((job) => this.stepsById.has(job.stepId))
      .flatMap((job) => this.setJob(job))
    const own = builds.filter((build) => build.id === this.build.id)
    return [...changes, ...own.flatMap((build) => this.setBuild(build))]
  }

  /** The newest attempts, in the order of the build. */
  jobsOf(step: GraphStep): WatchedJob[] {
    return (this.jobIdsByStep.get(step.id) ?? []).flatMap((id) => {
      const job = this.jobs.get(id)
      return job === undefined || job.retriedIn !== null ? [] : [job]
    })
  }

  stepOf(job: WatchedJob): GraphStep | undefined {
    return this.stepsById.get(job.stepId)
  }

  nameOfJob(job: WatchedJob): string {
    const step = this.stepOf(job)
    const own = job.label === null ? '' : oneLine(job.label)
    const name = own === '' ? this.nameOfStep(step) : own
    const isAlike = own === '' && job.index !== null
    return isAlike ? `${name} (${(job.index ?? 0) + 1} of ${step?.parallelism ?? '?'})` : name
  }

  /** With the values of all its jobs. */
  nameOfStep(step: GraphStep | undefined): string {
    if (step === undefined) return 'step'
    const { label, key, command, kind } = step
    const hasTokens = step.parallelism !== null || step.matrix
    const filled = hasTokens && label !== null ? fillStepLabel(label, this.labelsOf(step)) : label
    return [filled, key, command].map((text) => oneLine(text ?? '')).find(Boolean) ?? kind
  }

  private labelsOf(step: GraphStep): string[] {
    return this.jobsOf(step).flatMap((job) => job.label ?? step.label ?? [])
  }

  /** Steps that wait for a person now. */
  blockedJobs(): WatchedJob[] {
    return [...this.jobs.values()].filter((job) => stageOf(job) === 'blocked')
  }

  private setBuild(build: ShortBuild): Change[] {
    const { state, blocked } = this.build
    this.build = build
    return state === build.state && blocked === build.blocked ? [] : [{ kind: 'build', build }]
  }

  private setJob(job: WatchedJob): Change[] {
    const before = this.jobs.get(job.id) ?? null
    this.jobs.set(job.id, job)
    if (before === null) this.listOf(job.stepId).push(job.id)
    const isSame = before !== null && before.state === job.state && before.retriedIn === job.retriedIn
    return isSame && before.isUnblockable === job.isUnblockable ? [] : [{ kind: 'job', job, before }]
  }

  private listOf(stepId: string): string[] {
    const known = this.jobIdsByStep.get(stepId)
    if (known !== undefined) return known
    const list: string[] = []
    this.jobIdsByStep.set(stepId, list)
    return list
  }
}
