import { Gauge, type Registry } from 'prom-client'
import type { Dispatcher } from '../conductor/dispatch.ts'

export function measureWaitingAgents(registry: Registry, dispatcher: Dispatcher): void {
  const waiting = new Gauge({
    name: 'millrace_agents_waiting',
    help: 'Agents that this process holds until there is a job for them.',
    registers: [registry],
    collect() {
      waiting.set(dispatcher.countWaiting())
    },
  })
}
