// Restarts three servers and two workers one after another, with 50 agents and clients at work. No request may fail.
import { setTimeout as delay } from 'node:timers/promises'
import type { Entry } from '../soak/ledger.ts'
import type { Fault } from './faults.ts'
import type { World, WorldPlan } from './world.ts'

export const manyReplicas: Omit<WorldPlan, 'seed'> = {
  apis: 3,
  workers: 2,
  simulatedAgents: 46,
  runners: 3,
  usesGivenStore: true,
}

export const rollingRestart: Fault = {
  name: 'rolling-restart',
  aimMs: null,
  async apply({ apis, workers, balancer }: World) {
    for (const server of [...apis, ...workers]) {
      await server.restart()
      while (balancer.ready() < apis.length) await delay(20)
    }
    return { since: Date.now() }
  },
}

/**
 * Requests without an answer, and those answered with 5xx, even if a repetition succeeded. A machine that is too slow for the
 * load is not a fault of the restart.
 */
export const failedRequests = (ledger: readonly Entry[]): string[] =>
  ledger.flatMap((entry) =>
    entry.kind === 'failure' && !entry.reason.includes('The database is too busy')
      ? [`${entry.call} failed: ${entry.reason}`]
      : [],
  )
