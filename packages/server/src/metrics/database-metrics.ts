// Metrics that are read from the database. They are read when somebody asks for the metrics, and by one process at a time: the
// one that holds the lease in `metrics_reader`. Other processes leave them out, so that sums over all processes are right.
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { Gauge, Registry } from 'prom-client'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'
import { newId } from '../lib/ids.ts'
import type { QueueLabels } from './queue-labels.ts'

/** Makes gauges, and returns the function that reads their values. */
export type DatabaseMetric = (makeGauge: MakeGauge) => ReadGauges

type MakeGauge = (name: string, help: string, labelNames?: readonly string[]) => Gauge

type ReadGauges = (db: Db, labels: QueueLabels) => Promise<void>

interface DatabaseMetrics {
  registry: Registry
  /** The metrics as text; empty if another process reads them, or if the database does not answer in time. */
  text(): Promise<string>
  /** Lets another process read them at once. */
  stop(): Promise<void>
}

/** Longer than the pause between two scrapes, so that the same process keeps reading. */
const leaseSeconds = 90
const freshMs = 5000
/** A reading that took long is kept for so many times as long, so that reading takes a twentieth of the time. */
const restFactor = 20
const mostRestMs = 60_000
/** Prometheus gives up after 10 s. A later reading is for the next request. */
const mostWaitMs = 3000

export function databaseMetrics(
  db: Db,
  labels: QueueLabels,
  metrics: readonly DatabaseMetric[],
  onError: (error: unknown) => void,
): DatabaseMetrics {
  const registry = new Registry()
  const processId = newId()
  const makeGauge: MakeGauge = (name, help, labelNames = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const readers = metrics.map((metric) => metric(makeGauge))
  const duration = makeGauge(
    'millrace_database_metrics_read_seconds',
    'How long the last reading of the metrics from the database took.',
  )
  let isReader = false
  let freshUntil = -Infinity
  let reading: Promise<void> | null = null

  const read = async (): Promise<void> => {
    const { rows } = await takeLease(processId, leaseSeconds).execute(db)
    isReader = rows.length > 0
    if (!isReader) return
    const began = performance.now()
    // One after the other, because the connections are for the work itself.
    for (const readGauges of readers) await readGauges(db, labels)
    const tookMs = performance.now() - began
    duration.set(tookMs / 1000)
    freshUntil = performance.now() + Math.min(Math.max(freshMs, restFactor * tookMs), mostRestMs)
  }

  const readOnce = (): Promise<void> =>
    (reading ??= read()
      .catch((error: unknown) => {
        isReader = false
        onError(error)
      })
      .finally(() => (reading = null)))

  return {
    registry,
    async text() {
      if (performance.now() >= freshUntil) {
        const late = delay(mostWaitMs, 'late', { ref: false })
        if ((await Promise.race([readOnce(), late])) === 'late') return ''
      }
      return isReader ? registry.metrics() : ''
    },
    async stop() {
      await reading
      if (isReader) await endLease(processId).execute(db)
    },
  }
}

const takeLease = prepared(
  (processId: string, seconds: number) => sql`
    insert into metrics_reader as r (process_id, leased_until)
    values (${processId}, now() + make_interval(secs => ${seconds}))
    on conflict (is_only) do update set process_id = excluded.process_id, leased_until = excluded.leased_until
      where r.process_id = excluded.process_id or r.leased_until < now()
    returning process_id`,
)

const endLease = prepared(
  (processId: string) => sql`delete from metrics_reader where process_id = ${processId}`,
)
