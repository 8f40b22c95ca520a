// Start-time fair queueing. Each share of a queue has a finish time, in a virtual time of the queue's own: the time at which
// the jobs that it was given end if every share is served according to its weight. The share whose next job starts first in
// virtual time gets the next agent.
//
// A share that waits for nothing does not fall behind: its next job starts at the queue's virtual time at the earliest. So
// nothing is saved up, and a share without jobs takes nothing from the others.

export interface Share {
  /** 0: it was never given a job. */
  finish: number
  weight: number
}

export const startOf = (virtualTime: number, { finish }: Share): number => Math.max(virtualTime, finish)

/** The finish time of a share that is given a job which is expected to take so many seconds. */
export const charge = (virtualTime: number, share: Share, seconds: number): number =>
  startOf(virtualTime, share) + seconds / share.weight

/** The finish time of a share one of whose jobs has ended, or was given back, and took another time than expected. */
export const correct = ({ finish, weight }: Share, expectedSeconds: number, tookSeconds: number): number =>
  finish + (tookSeconds - expectedSeconds) / weight

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
