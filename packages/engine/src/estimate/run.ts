// One way in which a queue may go on if no job comes: each agent that ends its job takes the next one that it can run, as claims do.
import { end } from '../fairness/shares.ts'
import { takeFairly, type FairQueue } from '../fairness/take.ts'
import { Events } from './events.ts'
import { Line, type WaitingJob } from './line.ts'

interface RunningJob {
  /** The seconds until it ends, each as likely as the others. None: not known. */
  lengths: readonly number[]
  ranSeconds: number
  isMachine: boolean
  /** Only in fair queues. */
  charged?: { share: string; charge: number }
}

export interface AgentNow {
  /** The kinds of jobs that it can run. */
  kinds: ReadonlySet<number>
  /** null: it is idle. */
  running: RunningJob | null
}

export interface QueueNow {
  agents: readonly AgentNow[]
  /** In the order in which they come next if all take the same time. */
  jobs: readonly WaitingJob[]
  /** null: first come, first served. */
  fair: FairQueue | null
}

interface Ending {
  agent: AgentNow
  tookSeconds: number
  isMachine: boolean
  charged?: { share: string; charge: number } | undefined
}

type What = { kind: 'end'; ending: Ending } | { kind: 'release'; job: WaitingJob }

/** The seconds until each job starts. Absent: never, as far as is known. */
export function runOnce(now: QueueNow, random: () => number): Map<string, number> {
  const starts = new Map<string, number>()
  const line = new Line()
  const events = new Events<What>()
  const idle = new Set<AgentNow>()
  let { fair } = now

  const begin = (agent: AgentNow, at: number): boolean => {
    const heads = line.headsFor(agent.kinds)
    const { job, charge, after } = choose(fair, heads)
    if (job === undefined) return false
    fair = after
    line.take(job)
    starts.set(job.id, at)
    const tookSeconds = oneOf(job.lengths, random)
    // An agent whose job has no known end takes no other job here.
    if (tookSeconds === undefined) return true
    const share = job.fair?.share
    const charged = share === undefined || share === null ? undefined : { share, charge }
    const isMachine = job.fair?.isMachine === true
    events.add(at + tookSeconds, { kind: 'end', ending: { agent, tookSeconds, isMachine, charged } })
    return true
  }

  for (const job of now.jobs) {
    const at = job.notBefore === undefined ? 0 : oneOf(job.notBefore, random)
    if (at === 0) line.add(job)
    else if (at !== undefined) events.add(at, { kind: 'release', job })
  }
  for (const agent of now.agents) {
    const { running } = agent
    if (running === null) {
      if (!begin(agent, 0)) idle.add(agent)
      continue
    }
    const left = oneOf(running.lengths, random)
    if (left === undefined) continue
    const { ranSeconds, isMachine, charged } = running
    events.add(left, {
      kind: 'end',
      ending: { agent, tookSeconds: ranSeconds + left, isMachine, charged },
    })
  }
  const wanted = now.jobs.length
  for (let event = events.next(); event !== undefined && starts.size < wanted; event = events.next()) {
    const { at, what } = event
    if (what.kind === 'release') {
      line.add(what.job)
      const free = [...idle].find(({ kinds }) => kinds.has(what.job.kind))
      if (free !== undefined && begin(free, at)) idle.delete(free)
    } else {
      fair = fair && settle(fair, what.ending)
      if (!begin(what.ending.agent, at)) idle.add(what.ending.agent)
    }
  }
  return starts
}

function oneOf(lengths: readonly number[], random: () => number): number | undefined {
  return lengths[Math.floor(random() * lengths.length)]
}

interface Chosen {
  job: WaitingJob | undefined
  charge: number
  after: FairQueue | null
}

function choose(fair: FairQueue | null, heads: readonly WaitingJob[]): Chosen {
  const [first] = heads
  if (fair === null) return { job: first, charge: 0, after: null }
  const sharing = heads.flatMap((job) =>
    job.fair === undefined || job.fair.share === null
      ? []
      : [{ ...job.fair, share: job.fair.share, id: job.id, job }],
  )
  let chosen: Omit<Chosen, 'after'> = { job: sharing.length === 0 ? first : undefined, charge: 0 }
  const after = takeFairly(fair, sharing, {
    most: 1,
    canRun: () => true,
    onTake({ job }, charge) {
      chosen = { job, charge }
    },
  })
  return { ...chosen, after }
}

function settle(fair: FairQueue, { charged, tookSeconds, isMachine }: Ending): FairQueue {
  const { machines } = fair
  const share = charged && fair.shares.get(charged.share)
  return {
    ...fair,
    shares:
      charged === undefined || share === undefined
        ? fair.shares
        : new Map(fair.shares).set(charged.share, end(share, charged.charge, tookSeconds)),
    machines: machines && isMachine ? { ...machines, running: Math.max(0, machines.running - 1) } : machines,
  }
}
