// How much work waits for threads, by kind.
import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../lib/metrics.ts'
import { listQueues } from '../lib/threads.ts'

export function measureThreads({ registry }: Metrics): void {
  const registers = [registry]
  const labelNames = ['kind']
  const waiting = new Gauge({
    name: 'millrace_thread_tasks_waiting',
    help: 'Tasks that wait for a thread of this process.',
    labelNames,
    registers,
    collect() {
      for (const queue of listQueues()) waiting.set({ kind: queue.kind }, queue.waiting)
    },
  })
  const running = new Gauge({
    name: 'millrace_thread_tasks_running',
    help: 'Tasks that threads of this process work on.',
    labelNames,
    registers,
    collect() {
      for (const queue of listQueues()) running.set({ kind: queue.kind }, queue.running)
    },
  })
  const refused = new Counter({
    name: 'millrace_thread_work_refused_total',
    help: 'Requests that were refused because a sender, an organization or all together had too many under way.',
    labelNames,
    registers,
    collect() {
      refused.reset()
      for (const queue of listQueues()) refused.inc({ kind: queue.kind }, queue.refused)
    },
  })
  const dropped = new Counter({
    name: 'millrace_thread_tasks_dropped_total',
    help: 'Tasks that were not started because their client had gone.',
    labelNames,
    registers,
    collect() {
      dropped.reset()
      for (const queue of listQueues()) dropped.inc({ kind: queue.kind }, queue.dropped)
    },
  })
}
