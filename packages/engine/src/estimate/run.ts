// One way in which a queue may go on if no job comes: each agent that ends its job takes the next one that it can run, as claims do.
import { end } from '../fairness/shares.ts'
import { standingOf, takeNext, type FairQueue, type Standing } from '../fairness/take.ts'
import { Events } from './events.ts'
import { groupOf, Line, type WaitingJob } from './line.ts'

interface Charged {
  share: string
  charge: number
}

interface RunningJob {
  /** The seconds until it ends, each as likely as the others. None: not known. */
  lengths: readonly number[]
  ranSeconds: number
  isMachine: boolean
  /** Only in fair queues. */
  charged?: Charged
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
  charged: Charged | undefined
}

type What = { kind: 'end'; ending: Ending } | { kind: 'release'; job: WaitingJob }

/** The seconds until each job starts. Absent: never, as far as is known. */
export function runOnce(now: QueueNow, random: () => number): Map<string, number> {
  const starts = new Map<string, number>()
  const line = new Line(now.fair === null ? ({ kind }) => `${kind}` : groupOf)
  const events = new Events<What>()
  const idle = new Set<AgentNow>()
  const standing = now.fair && standingOf(now.fair)

  const begin = (agent: AgentNow, at: number): boolean => {
    const chosen = choose(line, standing, agent)
    if (chosen === undefined) return false
    const { job, charged } = chosen
    line.take(job)
    starts.set(job.id, at)
    const tookSeconds = oneOf(job.lengths, random)
    // An agent whose job has no known end takes no other job here.
    if (tookSeconds === undefined) return true
    const ending = { agent, tookSeconds, isMachine: job.isMachine, charged }
    events.add(at + tookSeconds, { kind: 'end', ending })
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
    const ending = { agent, tookSeconds: ranSeconds + left, isMachine, charged }
    events.add(left, { kind: 'end', ending })
  }
  const wanted = now.jobs.length
  for (let event = events.next(); event !== undefined && starts.size < wanted; event = events.next()) {
    const { at, what } = event
    if (what.kind === 'release') {
      line.add(what.job)
      const free = [...idle].find(({ kinds }) => kinds.has(what.job.kind))
      if (free !== undefined && begin(free, at)) idle.delete(free)
    } else {
      if (standing !== null) settle(standing, what.ending)
      if (!begin(what.ending.agent, at)) idle.add(what.ending.agent)
    }
  }
  return starts
}

function oneOf(lengths: readonly number[], random: () => number): number | undefined {
  return lengths[Math.floor(random() * lengths.length)]
}

interface Chosen {
  job: WaitingJob
  charged: Charged | undefined
}

function choose(line: Line, standing: Standing | null, { kinds }: AgentNow): Chosen | undefined {
  if (standing !== null) {
    const taken = takeNext(standing, line.headsFor(kinds).filter(hasShare))
    if (taken !== undefined)
      return { job: taken.job, charged: { share: taken.job.share, charge: taken.charge } }
  }
  const job = line.firstFor(kinds)
  return job && { job, charged: undefined }
}

const hasShare = (job: WaitingJob): job is WaitingJob & { share: string } => job.share !== null

function settle(standing: Standing, { charged, tookSeconds, isMachine }: Ending): void {
  const share = charged && standing.shares.get(charged.share)
  if (charged !== undefined && share !== undefined)
    standing.shares.set(charged.share, end(share, charged.charge, tookSeconds))
  if (isMachine) standing.running = Math.max(0, standing.running - 1)
}
