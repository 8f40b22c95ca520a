// The metrics that a process counts itself. Those that are read from the database are in the slices that own the tables;
// monitoring.ts lists them. docs/monitoring.md explains all of them.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

const requestBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Work in the background takes from a millisecond to many minutes. */
const workBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const waitBuckets = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600]

/** The labels of everything that is measured for each queue. */
export const queueLabelNames = ['organization', 'cluster', 'queue'] as const

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    httpRequests: new Histogram({
      name: 'millrace_http_request_duration_seconds',
      help: 'Time from the request line to the end of the answer.',
      labelNames: ['method', 'route', 'status'],
      buckets: requestBuckets,
      registers,
    }),
    connectionWaits: new Histogram({
      name: 'millrace_database_connection_wait_seconds',
      help: 'Time that a caller waited for a connection of the pool.',
      labelNames: ['pool'],
      buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    jobWaits: new Histogram({
      name: 'millrace_job_wait_seconds',
      help: 'Time from when a job could run until it started on an agent.',
      labelNames: queueLabelNames,
      buckets: waitBuckets,
      registers,
    }),
    dispatches: new Histogram({
      name: 'millrace_dispatch_duration_seconds',
      help: 'Time that a job and an agent which could run it waited for each other until the job was offered.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    buildsCreated: new Counter({
      name: 'millrace_builds_created_total',
      help: 'Builds that were created, by what asked for them.',
      labelNames: ['source'],
      registers,
    }),
    buildsFinished: new Counter({
      name: 'millrace_builds_finished_total',
      help: 'Builds that ended, by their final state. A build that is retried ends again.',
      labelNames: ['state'],
      registers,
    }),
    jobsFinished: new Counter({
      name: 'millrace_jobs_finished_total',
      help: 'Command jobs that ended, by their final state.',
      labelNames: ['state'],
      registers,
    }),
    logBytes: new Counter({
      name: 'millrace_log_received_bytes_total',
      help: 'Bytes of job logs that were received and stored, uncompressed.',
      registers,
    }),
    logChunks: new Counter({
      name: 'millrace_log_received_chunks_total',
      help: 'Chunks of job logs that were received and stored.',
      registers,
    }),
    artifactBytes: new Counter({
      name: 'millrace_artifact_uploaded_bytes_total',
      help: 'Bytes of artifacts whose upload was completed.',
      registers,
    }),
    artifacts: new Counter({
      name: 'millrace_artifacts_uploaded_total',
      help: 'Artifacts whose upload was completed.',
      registers,
    }),
    blobRequests: new Histogram({
      name: 'millrace_blob_request_duration_seconds',
      help: 'Time of a request to the store of logs and artifacts; the download itself is not included.',
      labelNames: ['operation', 'result'],
      buckets: workBuckets,
      registers,
    }),
    tasks: new Histogram({
      name: 'millrace_task_duration_seconds',
      help: 'Time that one run of a background task took.',
      labelNames: ['kind', 'result'],
      buckets: workBuckets,
      registers,
    }),
    tasksRunning: new Gauge({
      name: 'millrace_tasks_running',
      help: 'Background tasks that this process is working on.',
      labelNames: ['kind'],
      registers,
    }),
    pollers: new Histogram({
      name: 'millrace_poller_duration_seconds',
      help: 'Time that one run of a poller took.',
      labelNames: ['poller', 'result'],
      buckets: workBuckets,
      registers,
    }),
    failedRows: new Counter({
      name: 'millrace_row_failures_total',
      help: 'Rows that a loop of the background could not handle, each time it tried.',
      labelNames: ['loop'],
      registers,
    }),
    relayedEvents: new Counter({
      name: 'millrace_relay_events_total',
      help: 'Events of the outbox that the relay has read.',
      registers,
    }),
    deadDeliveries: new Counter({
      name: 'millrace_deliveries_dead_total',
      help: 'Notifications that were given up.',
      registers,
    }),
    deliveries: new Histogram({
      name: 'millrace_delivery_attempt_duration_seconds',
      help: 'Time that one attempt to deliver a notification took.',
      labelNames: ['provider', 'result'],
      buckets: workBuckets,
      registers,
    }),
  }
}

/** Observes how long `run` takes and whether it fails. */
export async function timed<T>(
  histogram: Histogram,
  labels: Readonly<Record<string, string>>,
  run: () => Promise<T>,
  resultOf: (error: unknown) => string = () => 'failed',
): Promise<T> {
  const began = performance.now()
  const observe = (result: string) =>
    histogram.observe({ ...labels, result }, (performance.now() - began) / 1000)
  try {
    const value = await run()
    observe('ok')
    return value
  } catch (error) {
    observe(resultOf(error))
    throw error
  }
}
