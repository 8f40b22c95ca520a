// Dispatch of jobs to agents: latency, throughput, the cost of waiting jobs; and logs.
import { startBenchServer } from './harness/bench-server.ts'
import { claimRate } from './dispatch/claims.ts'
import { fairClaims } from './dispatch/fair-claims.ts'
import { dispatchLatency } from './dispatch/latency.ts'
import { jobRate } from './dispatch/job-rate.ts'
import { logCompaction } from './logs/compaction.ts'
import { logIngest } from './logs/ingest.ts'
import type { Report } from './harness/report.ts'

export async function benchDispatch(): Promise<Report> {
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  for (const part of [dispatchLatency, jobRate, claimRate, fairClaims, logIngest, logCompaction]) {
    const bench = await startBenchServer()
    try {
      const measured = await part(bench)
      rows.push(...measured.rows)
      targets.push(...measured.targets)
    } finally {
      await bench.stop()
    }
  }
  return { name: 'dispatch', rows, targets }
}
