import { Gauge } from 'prom-client'
import type { Dispatcher } from '../../conductor/dispatch/dispatcher.ts'
import type { Metrics } from '../../lib/metrics.ts'

export function measureWaitingAgents({ registry }: Metrics, dispatcher: Dispatcher): void {
  const waiting = new Gauge({
    name: 'millrace_agents_waiting',
    help: 'Agents that this process holds until there is a job for them.',
    registers: [registry],
    collect() {
      waiting.set(dispatcher.countWaiting())
    },
  })
}
