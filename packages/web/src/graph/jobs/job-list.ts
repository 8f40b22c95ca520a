// The jobs of a build with their attempts. A retried job stays; the newest attempt takes its place in lists.
import type { ShortJob } from '../../api/live-changes.ts'
import { readJob, type GraphStep, type Job } from './job.ts'

export class JobList {
  readonly #jobs: Job[] = []
  readonly #positionById = new Map<string, number>()
  readonly #positionsByStep = new Map<string, number[]>()
  /** From an attempt to the one before. */
  readonly #before = new Map<string, string>()

  put(short: ShortJob, step: GraphStep): void {
    const read = readJob(short, step)
    const before = this.#before.get(read.id)
    const job: Job = { ...read, firstAttemptId: this.find(before ?? '')?.firstAttemptId ?? read.id }
    const position = this.#positionById.get(job.id)
    if (position === undefined) {
      const positions = this.#positionsByStep.get(step.id)
      if (positions === undefined) this.#positionsByStep.set(step.id, [this.#jobs.length])
      else positions.push(this.#jobs.length)
      this.#positionById.set(job.id, this.#jobs.length)
      this.#jobs.push(job)
    } else {
      this.#jobs[position] = job
    }
    if (job.retriedIn === null) return
    this.#before.set(job.retriedIn, job.id)
    const next = this.#positionById.get(job.retriedIn)
    const retry = next === undefined ? undefined : this.#jobs[next]
    if (next !== undefined && retry !== undefined)
      this.#jobs[next] = { ...retry, firstAttemptId: job.firstAttemptId }
  }

  find(id: string): Job | undefined {
    const position = this.#positionById.get(id)
    return position === undefined ? undefined : this.#jobs[position]
  }

  newest(): Job[] {
    return this.#jobs.filter(({ id }) => !this.#before.has(id)).map((first) => this.#newestOf(first))
  }

  newestOfStep(stepId: string): Job[] {
    const found: Job[] = []
    for (const position of this.#positionsByStep.get(stepId) ?? []) {
      const job = this.#jobs[position]
      if (job !== undefined && !this.#before.has(job.id)) found.push(this.#newestOf(job))
    }
    return found
  }

  /** Every attempt of the job, the first one first. */
  attempts(jobId: string): Job[] {
    let first = jobId
    for (let id = this.#before.get(first); id !== undefined; id = this.#before.get(first)) first = id
    const attempts: Job[] = []
    for (let job = this.find(first); job !== undefined; job = this.#next(job)) attempts.push(job)
    return attempts
  }

  #newestOf(first: Job): Job {
    let newest = first
    for (let next = this.#next(newest); next !== undefined; next = this.#next(newest)) newest = next
    return newest
  }

  #next(job: Job): Job | undefined {
    return job.retriedIn === null ? undefined : this.find(job.retriedIn)
  }
}
