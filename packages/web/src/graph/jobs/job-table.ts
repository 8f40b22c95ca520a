// The jobs of one build, in the page. A snapshot fills it; changes arrive as often as they like and are applied once a
// frame. Views subscribe to the steps that they show, so that a change renders only those again.
import { Listeners } from '../../api/listeners.ts'
import type { ShortJob } from '../../api/live-changes.ts'
import { groupJobs, type JobGroups } from './job-groups.ts'
import { JobList } from './job-list.ts'
import { stepName, type Graph, type GraphStep, type Job } from './job.ts'
import { summarize, type StepSummary } from './step-summary.ts'

export class JobTable {
  #graph: Graph = { steps: [], edges: [], jobs: [] }
  #stepById = new Map<string, GraphStep>()
  #membersByGroup = new Map<string, string[]>()
  #predecessors = new Map<string, string[]>()
  #list = new JobList()
  #summaries = new Map<string, StepSummary>()
  #newest: readonly Job[] | null = null
  #groups: JobGroups | null = null
  #unapplied = new Map<string, ShortJob>()
  #sinceLoadBegan: Map<string, ShortJob> | null = null
  #isScheduled = false
  readonly #listeners = new Listeners()
  readonly #listenersByStep = new Map<string, Listeners>()
  readonly #schedule: (run: () => void) => void
  /** Changes with every applied change. */
  version = 0
  /** Changes when steps or edges change. */
  shapeVersion = 0

  constructor(graph?: Graph, schedule: (run: () => void) => void = onNextFrame) {
    this.#schedule = schedule
    if (graph !== undefined) this.#load(graph)
  }

  get steps(): readonly GraphStep[] {
    return this.#graph.steps
  }

  get edges(): Graph['edges'] {
    return this.#graph.edges
  }

  /**
   * Call it before fetching a snapshot, and call the returned function with the answer. Changes that arrive in between may be
   * newer than the snapshot, so they are applied to it again.
   */
  beginLoad(): (graph: Graph) => void {
    const since = new Map<string, ShortJob>()
    this.#sinceLoadBegan = since
    return (graph) => {
      if (this.#sinceLoadBegan === since) this.#sinceLoadBegan = null
      this.#load(graph)
      this.change([...since.values()])
    }
  }

  /** Takes changes from the event stream. The newest state of each job is applied on the next frame. */
  change(jobs: readonly ShortJob[]): void {
    for (const job of jobs) {
      if (typeof job[0] !== 'string') continue
      this.#unapplied.set(job[0], job)
      this.#sinceLoadBegan?.set(job[0], job)
    }
    if (this.#unapplied.size === 0 || this.#isScheduled) return
    this.#isScheduled = true
    this.#schedule(() => {
      this.#isScheduled = false
      this.#apply()
    })
  }

  step(id: string): GraphStep | undefined {
    return this.#stepById.get(id)
  }

  stepName(id: string): string {
    const step = this.#stepById.get(id)
    if (step === undefined) return ''
    return stepName(
      step,
      this.#list.newestOfStep(id).flatMap(({ label }) => label ?? []),
    )
  }

  job(id: string): Job | undefined {
    return this.#list.find(id)
  }

  /** Every attempt of the job, the first one first. */
  attemptsOf(jobId: string): Job[] {
    return this.#list.attempts(jobId)
  }

  /** The newest attempt of the job. */
  newestOf(jobId: string): Job | undefined {
    return this.#list.attempts(jobId).at(-1)
  }

  membersOf(groupId: string): readonly string[] {
    return this.#membersByGroup.get(groupId) ?? []
  }

  /** The steps that a step waits for. */
  predecessorsOf(stepId: string): readonly string[] {
    return this.#predecessors.get(stepId) ?? []
  }

  /** The newest attempts of a step's jobs; of a group, those of its steps. */
  jobsOf(stepId: string): Job[] {
    const members = this.#membersByGroup.get(stepId)
    if (members !== undefined) return members.flatMap((member) => this.#list.newestOfStep(member))
    return this.#list.newestOfStep(stepId)
  }

  /** Stays the same object until a job of the step changes. */
  summaryOf(stepId: string): StepSummary {
    let found = this.#summaries.get(stepId)
    if (found === undefined) this.#summaries.set(stepId, (found = summarize(this.jobsOf(stepId))))
    return found
  }

  /** The newest attempts, in the order of the pipeline, without those of `wait`. */
  newestJobs(): readonly Job[] {
    this.#newest ??= this.#list.newest().filter(({ kind }) => kind !== 'wait')
    return this.#newest
  }

  groups(): JobGroups {
    this.#groups ??= groupJobs(this.newestJobs())
    return this.#groups
  }

  subscribe = this.#listeners.add

  subscribeToStep(stepId: string, listener: () => void): () => void {
    let listeners = this.#listenersByStep.get(stepId)
    if (listeners === undefined) this.#listenersByStep.set(stepId, (listeners = new Listeners()))
    return listeners.add(listener)
  }

  #load(graph: Graph): void {
    if (!isSameShape(graph, this.#graph)) this.shapeVersion++
    else graph = { ...graph, steps: this.#graph.steps, edges: this.#graph.edges }
    this.#graph = graph
    this.#stepById = new Map(graph.steps.map((step) => [step.id, step]))
    this.#membersByGroup = new Map()
    for (const { id, kind } of graph.steps) if (kind === 'group') this.#membersByGroup.set(id, [])
    for (const { id, group_id } of graph.steps) this.#membersByGroup.get(group_id ?? '')?.push(id)
    this.#predecessors = new Map(graph.steps.map(({ id }) => [id, []]))
    for (const [from = '', to = ''] of graph.edges) this.#predecessors.get(to)?.push(from)
    this.#list = new JobList()
    this.#unapplied.clear()
    for (const job of graph.jobs) this.#put(job)
    this.#summaries.clear()
    this.#notify(this.#listenersByStep.keys())
  }

  #apply(): void {
    const changed = new Set<string>()
    for (const job of this.#unapplied.values()) {
      const step = this.#put(job)
      if (step !== undefined) changed.add(step.id)
      if (step?.group_id) changed.add(step.group_id)
    }
    this.#unapplied.clear()
    for (const id of changed) this.#summaries.delete(id)
    if (changed.size > 0) this.#notify(changed)
  }

  /** A job of an unknown step is left out: the snapshot that brings the step brings the job too. */
  #put(short: ShortJob): GraphStep | undefined {
    const step = this.#stepById.get(String(short[1]))
    if (step !== undefined) this.#list.put(short, step)
    return step
  }

  #notify(stepIds: Iterable<string>): void {
    this.version++
    this.#newest = null
    this.#groups = null
    for (const id of stepIds) this.#listenersByStep.get(id)?.call()
    this.#listeners.call()
  }
}

const isSameShape = (a: Graph, b: Graph) =>
  JSON.stringify([a.steps, a.edges]) === JSON.stringify([b.steps, b.edges])

/** Hidden pages get no frames, so they apply changes once a second. */
function onNextFrame(run: () => void): void {
  if (document.hidden) setTimeout(run, 1000)
  else requestAnimationFrame(run)
}
