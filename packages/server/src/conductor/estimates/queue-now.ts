// A queue as engine/estimate sees it.
import { lengthsOf, type History } from '@millrace/engine/estimate/lengths.ts'
import type { WaitingJob } from '@millrace/engine/estimate/line.ts'
import type { AgentNow, QueueNow } from '@millrace/engine/estimate/run.ts'
import { expectedSeconds, newShare, type Share } from '@millrace/engine/fairness/shares.ts'
import type { FairQueue } from '@millrace/engine/fairness/take.ts'
import { abilityOf } from '../dispatch/claimant.ts'
import type { MachinesNow } from '../dispatch/fair-order.ts'
import { idOfShare } from '../shares/share-key.ts'
import type { AgentRow, JobRow, QueueRows } from './queue-rows.ts'

interface Fairness {
  virtualTime: number
  weights: Readonly<Record<string, number>>
  machines: MachinesNow | null
}

interface Given {
  history: History
  /** null: the queue is not fair. */
  fairness: Fairness | null
  /** When the job that is not in the queue yet may come. */
  notBefore?: readonly number[] | undefined
}

/** A claim takes no longer: an agent that leaves a job alone so long does not ask for jobs. */
const askSeconds = 30

interface Seen {
  now: QueueNow
  /** The ids of the jobs that only such agents can run as do not ask for jobs. */
  left: ReadonlySet<string>
}

export function queueNow({ agents, jobs }: QueueRows, { history, fairness, notBefore }: Given): Seen {
  const kinds = kindsOf(jobs)
  const neglected = new Set(
    jobs.flatMap((job) => (job.isScheduled && job.waitedSeconds > askSeconds ? [kindOf(kinds, job)] : [])),
  )
  const able = new Map<string, ReadonlySet<number>>()
  const seen = agents.map((agent): AgentNow => {
    const tags = JSON.stringify(agent.tags)
    const own = able.get(tags) ?? kindsFor(agent.tags, kinds)
    able.set(tags, own)
    return { kinds: own, running: runningOf(agent, history) }
  })
  const asking = seen.filter(
    ({ running, kinds: own }) => running !== null || ![...own].some((kind) => neglected.has(kind)),
  )
  const isLeft = (kind: number) => canRun(seen, kind) && !canRun(asking, kind)
  return {
    now: {
      agents: asking,
      jobs: jobs.map((job) => waitingJob(job, kindOf(kinds, job), { history, fairness, notBefore })),
      fair: fairness && fairQueue(fairness, [...agents, ...jobs]),
    },
    left: new Set(jobs.flatMap((job) => (isLeft(kindOf(kinds, job)) ? [job.id] : []))),
  }
}

const canRun = (agents: readonly AgentNow[], kind: number) => agents.some(({ kinds }) => kinds.has(kind))

type Kinds = ReadonlyMap<string, { kind: number; rules: readonly string[] }>

const keyOf = ({ rules }: JobRow) => JSON.stringify(rules)

function kindsOf(jobs: readonly JobRow[]): Kinds {
  const kinds = new Map<string, { kind: number; rules: readonly string[] }>()
  for (const job of jobs) {
    const key = keyOf(job)
    if (!kinds.has(key)) kinds.set(key, { kind: kinds.size, rules: job.rules })
  }
  return kinds
}

const kindOf = (kinds: Kinds, job: JobRow): number => kinds.get(keyOf(job))?.kind ?? -1

function kindsFor(tags: readonly string[], kinds: Kinds): ReadonlySet<number> {
  const { rules: met } = abilityOf(tags)
  const fits = (rule: string) => rule.startsWith('queue=') || met.has(rule)
  return new Set([...kinds.values()].flatMap(({ kind, rules }) => (rules.every(fits) ? [kind] : [])))
}

function runningOf(agent: AgentRow, history: History): AgentNow['running'] {
  const { pipeline, step, ranSeconds, isMachine, share, charge } = agent
  if (pipeline === null || step === null) return null
  const lengths = lengthsOf(history, { pipeline, step }, ranSeconds)
  const charged = share === null || charge === null ? {} : { charged: { share, charge } }
  return { lengths, ranSeconds, isMachine, ...charged }
}

function waitingJob(job: JobRow, kind: number, { history, notBefore }: Given): WaitingJob {
  const { id, place, share, isMachine, isUntrusted, priority, mean } = job
  return {
    id,
    kind,
    place,
    share,
    isMachine,
    isUntrusted,
    priority,
    seconds: expectedSeconds(mean),
    lengths: lengthsOf(history, job),
    ...(job.isScheduled || notBefore === undefined ? {} : { notBefore }),
  }
}

function fairQueue(
  { virtualTime, weights, machines }: Fairness,
  rows: ReadonlyArray<{ share: string | null; finish: number | null; running: number | null }>,
): FairQueue {
  const shares = rows.flatMap(({ share, finish, running }): Array<[string, Share]> =>
    share === null
      ? []
      : [
          [
            share,
            { ...newShare(weights[idOfShare(share)] ?? 1), finish: finish ?? 0, running: running ?? 0 },
          ],
        ],
  )
  return { virtualTime, shares: new Map(shares), machines }
}
