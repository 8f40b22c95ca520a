// Start-time fair queueing. Each share of a queue has a finish time, in a virtual time of the queue's own: when the jobs that it was
// given have ended, if every share is served according to its weight. The share whose next job starts first in virtual time gets
// the next agent.
//
// A job is charged twice: what it is expected to take while it runs, and what it took when it has ended. Only the second is a part of
// the finish time, so wrong expectations leave nothing behind.
//
// A share that waits for nothing does not fall behind: its next job starts at the queue's virtual time at the earliest. So
// nothing is saved up, and a share without jobs takes nothing from the others.

export interface Share {
  /** 0: none of its jobs has ended. */
  finish: number
  /** The charges of its jobs that run. */
  running: number
  weight: number
}

export const newShare = (weight: number): Share => ({ finish: 0, running: 0, weight })

/** From when on the share counts. The virtual time moves to the least of those that wait, so it passes what none of them has had. */
export const baseOf = (virtualTime: number, { finish }: Share): number => Math.max(virtualTime, finish)

/** When its next job starts. */
export const startOf = (virtualTime: number, share: Share): number =>
  baseOf(virtualTime, share) + share.running

/** What a job is charged while it runs. */
export const chargeFor = ({ weight }: Share, seconds: number): number => seconds / weight

export const begin = (virtualTime: number, share: Share, charge: number): Share => ({
  ...share,
  finish: baseOf(virtualTime, share),
  running: share.running + charge,
})

/** A job has ended, or was given back after 0 seconds. */
export const end = (share: Share, charge: number, tookSeconds: number): Share => ({
  ...share,
  finish: share.finish + tookSeconds / share.weight,
  running: Math.max(0, share.running - charge),
})

const shortestSeconds = 1
const longestSeconds = 3600
const unknownSeconds = 60

/** What a job is charged before it has run. `mean`: of the jobs of its pipeline in the queue; null: none has run. */
export const expectedSeconds = (mean: number | null): number =>
  Math.min(Math.max(mean ?? unknownSeconds, shortestSeconds), longestSeconds)

/** How much the newest job counts in the mean. */
const newestPart = 1 / 8

export const nextMean = (mean: number | null, tookSeconds: number): number =>
  mean === null ? tookSeconds : mean + (tookSeconds - mean) * newestPart

/** The agents that the jobs of machines may hold while people wait. */
export const machineSlots = (percent: number, agents: number): number =>
  Math.max(1, Math.floor((agents * percent) / 100))
