// Reads metrics of the database once, for a person instead of a monitoring system. It takes no lease: its readings are in no sum.
import { Gauge, Registry } from 'prom-client'
import type { Db } from '../db/pool.ts'
import type { DatabaseMetric } from './database-metrics.ts'
import type { QueueLabels } from './queue-labels.ts'

interface Reading {
  /** The value of the metric's label; empty without one. */
  label: string
  value: number
}

/** By the name of the metric. */
export type Readings = ReadonlyMap<string, readonly Reading[]>

export async function readMetrics(
  db: Db,
  labels: QueueLabels,
  metrics: readonly DatabaseMetric[],
): Promise<Readings> {
  const registry = new Registry()
  for (const metric of metrics) {
    const read = metric(
      (name, help, labelNames = []) => new Gauge({ name, help, labelNames, registers: [registry] }),
    )
    await read(db, labels)
  }
  const read = await registry.getMetricsAsJSON()
  return new Map(
    read.map(({ name, values }) => [
      name,
      values.map(({ labels: given, value }) => ({ label: String(Object.values(given)[0] ?? ''), value })),
    ]),
  )
}
