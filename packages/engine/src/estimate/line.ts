// The waiting jobs of a queue, in groups whose jobs differ only in their order. So the next job is found among the first of each group.

/** Jobs of a fair queue without a share run when no other job can. */
export interface FairPart {
  share: string | null
  isMachine: boolean
  isUntrusted: boolean
  priority: number
  /** What it is charged before it has ended. */
  seconds: number
}

export interface WaitingJob {
  id: string
  /** Jobs with the same number have the same rules. */
  kind: number
  /** Its place in the order of the queue, without regard to shares. */
  place: number
  /** The seconds that it may take, each as likely as the others. None: not known. */
  lengths: readonly number[]
  /** Absent in queues that are not fair. */
  fair?: FairPart
  /** When it may begin to wait for an agent: one of these seconds. */
  notBefore?: readonly number[]
}

interface Group {
  kind: number
  jobs: WaitingJob[]
  next: number
}

const keyOf = ({ kind, fair }: WaitingJob) =>
  fair === undefined ? `${kind}` : `${kind} ${fair.isMachine} ${fair.share ?? ''}`

export class Line {
  private readonly groups = new Map<string, Group>()

  /** In the order of the queue, except for single ones that come later. */
  add(job: WaitingJob): void {
    const key = keyOf(job)
    const group = this.groups.get(key) ?? { kind: job.kind, jobs: [], next: 0 }
    this.groups.set(key, group)
    let at = group.jobs.length
    while (at > group.next && (group.jobs[at - 1]?.place ?? 0) > job.place) at -= 1
    group.jobs.splice(at, 0, job)
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

  /** One of `headsFor`. */
  take(job: WaitingJob): void {
    const group = this.groups.get(keyOf(job))
    if (group !== undefined) group.next += 1
  }
}
