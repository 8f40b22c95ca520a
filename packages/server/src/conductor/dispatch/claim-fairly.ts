// Claims jobs of a fair queue: the share that comes next by engine/fairness gets the next agent. A claim also settles what its
// predecessors began: it finds the jobs that have ended since, so that their ends write nothing about shares. A process that
// dies leaves only charges of jobs, which the next claim after their ends removes.
import {
  end,
  expectedSeconds,
  machineSlots,
  newShare,
  nextMean,
  type Share,
} from '@millrace/engine/fairness/shares.ts'
import { takeFairly, type FairQueue } from '@millrace/engine/fairness/take.ts'
import type { Context } from '../../context.ts'
import { batch, commitWith } from '../../db/batch.ts'
import type { Trx } from '../../db/pool.ts'
import type { Statement } from '../../db/statement.ts'
import { abilitiesOf, type Claimant, type Claims, type Queue } from './claimant.ts'
import * as fair from './fair-queries.ts'
import { idOfShare } from '../shares/share-key.ts'

/** Where more agents wait, the claim is repeated. */
const mostAtOnce = 10

export async function claimFairly(
  trx: Trx,
  ctx: Context,
  { organizationId, queueId }: Queue,
  claimants: readonly Claimant[],
): Promise<Claims> {
  const abilities = abilitiesOf(claimants.map(({ ability }) => ability))
  const most = Math.min(claimants.length, mostAtOnce)
  const [[locked], [settings], ended, candidates] = await batch(trx, [
    fair.lockFairQueue(organizationId, queueId),
    fair.readFairSettings(organizationId, queueId),
    fair.takeEnded(organizationId, queueId),
    fair.lockFairCandidates(organizationId, queueId, abilities, most),
  ])
  if (locked === undefined || settings === undefined) return { assigned: [], unfit: [] }
  const { shares, means } = settle(ended, candidates, settings.weights)
  const { machineLimitPercent, machinesRunning, agents } = settings
  const queue: FairQueue = {
    virtualTime: locked.virtualTime,
    shares,
    machines:
      machineLimitPercent === null
        ? null
        : { running: machinesRunning, slots: machineSlots(machineLimitPercent, agents) },
  }
  const { pairs, after } = choose(queue, candidates, claimants, most)
  if (pairs.length + ended.length === 0) return { assigned: [], unfit: [] }
  const { timers } = ctx.config
  const [assigned] = await batch(trx, [
    fair.assignCharged(pairs, ctx.now().toISOString(), timers.acceptSeconds),
  ])
  const served = new Set(assigned.map(({ jobId }) => jobId))
  const refused = pairs.filter(({ jobId }) => !served.has(jobId))
  const final = new Map(after.shares)
  for (const { share, charge } of refused) final.set(share, end(shareIn(final, share), charge, 0))
  await commitWith(trx, save({ organizationId, queueId }, { ...after, shares: final }, means))
  return { assigned, unfit: refused.map(({ agentId }) => agentId) }
}

function shareIn(shares: ReadonlyMap<string, Share>, key: string): Share {
  const share = shares.get(key)
  if (share === undefined) throw new Error('A job of an unknown share was claimed.')
  return share
}

/** The shares of the candidates and of the jobs that have ended, and the new means of the pipelines of the latter. */
function settle(
  ended: readonly fair.Ended[],
  candidates: readonly fair.FairCandidate[],
  weights: Readonly<Record<string, number>>,
): { shares: Map<string, Share>; means: Map<string, number> } {
  const weightOf = (key: string) => weights[idOfShare(key)] ?? 1
  const shares = new Map(
    [...ended, ...candidates].map(({ share, finish, running }): [string, Share] => {
      const stored = newShare(weightOf(share))
      return [share, { ...stored, finish: finish ?? 0, running: running ?? 0 }]
    }),
  )
  const means = new Map<string, number>()
  for (const { share, pipelineId, charge, tookSeconds, mean } of ended) {
    shares.set(share, end(shareIn(shares, share), charge, tookSeconds ?? 0))
    if (tookSeconds !== null) means.set(pipelineId, nextMean(means.get(pipelineId) ?? mean, tookSeconds))
  }
  return { shares, means }
}

function choose(
  queue: FairQueue,
  candidates: readonly fair.FairCandidate[],
  claimants: readonly Claimant[],
  most: number,
): { pairs: fair.ChargedPair[]; after: FairQueue } {
  const free = [...claimants]
  const pairs: fair.ChargedPair[] = []
  const fits = ({ rules }: fair.FairCandidate, { ability }: Claimant) =>
    rules.every((rule) => ability.rules.has(rule))
  const jobs = candidates.map((job) => ({ ...job, seconds: expectedSeconds(job.mean) }))
  const after = takeFairly(queue, jobs, {
    most,
    canRun: (job) => free.some((agent) => fits(job, agent)),
    onTake(job, charge) {
      const other = free.findIndex((agent) => agent.agentId !== job.avoid && fits(job, agent))
      const at = other >= 0 ? other : free.findIndex((agent) => fits(job, agent))
      for (const { agentId } of free.splice(at, 1))
        pairs.push({ jobId: job.id, agentId, share: job.share, charge })
    },
  })
  return { pairs, after }
}

function save(
  { organizationId, queueId }: Queue,
  { virtualTime, shares }: FairQueue,
  means: ReadonlyMap<string, number>,
): Statement[] {
  const keys = [...shares.keys()].sort()
  const all = keys.map((key) => shareIn(shares, key))
  return [
    fair.saveVirtualTime(organizationId, queueId, virtualTime),
    fair.saveShares(
      organizationId,
      queueId,
      keys,
      all.map(({ finish }) => finish),
      all.map(({ running }) => running),
    ),
    ...(means.size === 0
      ? []
      : [fair.saveLengths(organizationId, queueId, [...means.keys()], [...means.values()])]),
    fair.deleteIdleShares(organizationId, queueId, virtualTime),
  ]
}
