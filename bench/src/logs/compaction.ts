// How many small logs of ended jobs one worker writes to the blob store in a second.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { logCompactor } from '@millrace/server/resources/builds/log/ingest/compact.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedPipeline } from '../harness/seed.ts'

const logs = 500
const lines = 120

export async function logCompaction({ database, seeded }: BenchServer): Promise<Omit<Report, 'name'>> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  try {
    const ctx = { ...contextOn(database, { MILLRACE_DATA_DIR: folder }), db: database.slow.db }
    const steps = `steps: [{command: "true", parallelism: ${logs}}]`
    const pipelineId = await seedPipeline(database.db, seeded, 'ended', steps)
    const request = aBuildRequest(pipelineId, { creatorId: seeded.userId })
    const created = await createBuild(ctx, seeded.orgId, request)
    if (!created.ok) throw new Error(created.message)
    const text = Array.from({ length: lines }, (_, line) => `${line} ${Math.random()} compiled\n`).join('')
    await sql`update jobs set finished_at = now() - interval '10 minutes'`.execute(database.db)
    await sql`
      insert into job_log_chunks (job_id, sequence, byte_offset, size, data)
      select id, 1, 0, ${text.length}, ${gzipSync(text)} from jobs`.execute(database.db)
    const start = performance.now()
    await logCompactor()(ctx, new AbortController().signal)
    const perSecond = (logs * 1000) / (performance.now() - start)
    return { rows: [row('log compaction, one worker', `${perSecond.toFixed(0)} logs/s`)], targets: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
