// Builds: the rate of creation, the cost of a job's end in small and large builds, the cost of a list page at a thousand
// and at a million builds, the time to read a pipeline, and the failure summary of a large build.
import { startTemporary } from '@millrace/server/db/embedded/temporary.ts'
import { migrate } from '@millrace/server/db/migrate.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { bigLists } from './builds/big-lists.ts'
import { failureSummaries } from './builds/failure-summaries.ts'
import { jobEnds } from './builds/job-ends.ts'
import { startChild } from '../../testbed/dist/children.js'
import { contextOn } from './harness/context.ts'
import { listPages } from './builds/list-pages.ts'
import { loadUrl } from './harness/load.ts'
import { readerTimes } from './builds/reader-times.ts'
import { row, type Report } from './harness/report.ts'
import { seedOrganization, seedPipeline } from './harness/seed.ts'

export async function benchBuilds(): Promise<Report> {
  const postgres = await startTemporary()
  const database = openDatabase(postgres.connection)
  await migrate(database.pool)
  const seeded = await seedOrganization(database.db)
  const ctx = contextOn(database)
  const { child: server, ready } = await startChild(new URL('./children/millrace.js', import.meta.url), {
    DATABASE_URL: postgres.url,
  })
  const address = String(ready)

  await seedPipeline(database.db, seeded, 'one-step', 'steps: [{command: "true"}]')
  const created = await loadUrl({
    url: `${address}/v2/organizations/${seeded.slug}/pipelines/one-step/builds`,
    method: 'POST',
    body: JSON.stringify({ commit: 'HEAD', branch: 'main', message: 'bench' }),
    token: seeded.token,
    connections: 16,
    seconds: 5,
  })
  const rows: Report['rows'] = [
    row(
      'builds created, 16 connections',
      `${Math.round(created.perSecond)}/s`,
      `p50 ${created.p50.toFixed(1)} ms, p99 ${created.p99.toFixed(1)} ms`,
    ),
  ]
  const targets: Report['targets'] = []
  for (const part of [
    await jobEnds(ctx, database.db, seeded),
    await readerTimes(),
    await failureSummaries(),
    await bigLists(database, postgres.url, seeded),
    await listPages(),
  ]) {
    rows.push(...part.rows)
    targets.push(...part.targets)
  }
  await server.stop()
  await database.close()
  await postgres.stop()
  return { name: 'builds', rows, targets }
}
