// The waiting jobs of a queue, in groups whose jobs differ only in their order. So the next job is found among the first of each group.
import type { FairJob } from '../fairness/take.ts'

export interface WaitingJob extends Omit<FairJob, 'share'> {
  /** null: in a fair queue, the job runs when no other can. Others have no shares. */
  share: string | null
  /** Jobs with the same number have the same rules. */
  kind: number
  /** Its place in the order of the queue, without regard to shares. */
  place: number
  /** The seconds that it may take, each as likely as the others. None: not known. */
  lengths: readonly number[]
  /** When it may begin to wait for an agent: one of these seconds. */
  notBefore?: readonly number[]
}

interface Group {
  kind: number
  jobs: WaitingJob[]
  next: number
}

export const groupOf = ({ kind, isMachine, share }: WaitingJob): string =>
  `${kind} ${isMachine} ${share ?? ''}`

export class Line {
  private readonly groups = new Map<string, Group>()
  private readonly keyOf: (job: WaitingJob) => string

  constructor(keyOf: (job: WaitingJob) => string) {
    this.keyOf = keyOf
  }

  /** In the order of the queue, except for single ones that come later. */
  add(job: WaitingJob): void {
    const key = this.keyOf(job)
    const group = this.groups.get(key) ?? { kind: job.kind, jobs: [], next: 0 }
    this.groups.set(key, group)
    let at = group.jobs.length
    while (at > group.next && (group.jobs[at - 1]?.place ?? 0) > job.place) at -= 1
    if (at === group.jobs.length) group.jobs.push(job)
    else group.jobs.splice(at, 0, job)
  }

  /** The first job in the order of the queue that an agent of these kinds can run. */
  firstFor(kinds: ReadonlySet<number>): WaitingJob | undefined {
    let first: WaitingJob | undefined
    for (const { kind, jobs, next } of this.groups.values()) {
      const head = jobs[next]
      if (head === undefined || !kinds.has(kind)) continue
      if (first === undefined || head.place < first.place) first = head
    }
    return first
  }

  /** The first of each group that an agent of these kinds can run, in the order of the queue. */
  headsFor(kinds: ReadonlySet<number>): WaitingJob[] {
    const heads: WaitingJob[] = []
    for (const { kind, jobs, next } of this.groups.values()) {
      const head = jobs[next]
      if (head !== undefined && kinds.has(kind)) heads.push(head)
    }
    return heads.sort((a, b) => a.place - b.place)
  }

  /** One of the heads. */
  take(job: WaitingJob): void {
    const group = this.groups.get(this.keyOf(job))
    if (group !== undefined) group.next += 1
  }
}
