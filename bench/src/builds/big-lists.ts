// The memory of a server that lists builds with the largest number of jobs.
import type { Database } from '@millrace/server/db/pool.ts'
import { startChild } from '../../../testbed/dist/children.js'
import { fillBuilds } from '../harness/fill-builds.ts'
import { row, type Report } from '../harness/report.ts'
import { seedPipeline, type Seeded } from '../harness/seed.ts'

const builds = 100
const jobs = 4000
const mostMegabytes = 512

export async function bigLists(
  database: Database,
  databaseUrl: string,
  seeded: Seeded,
): Promise<Omit<Report, 'name'>> {
  const pipelineId = await seedPipeline(database.db, seeded, 'big-builds', 'steps: [{command: "true"}]')
  await fillBuilds(databaseUrl, seeded, pipelineId, { from: 0, to: builds, jobs })
  // A separate server, because the peak memory of a process is measured.
  const { child, ready } = await startChild(new URL('../children/millrace.js', import.meta.url), {
    DATABASE_URL: databaseUrl,
  })
  const url = `${String(ready)}/v2/organizations/${seeded.slug}/pipelines/big-builds/builds?per_page=${builds}`
  const response = await fetch(url, { headers: { authorization: `Bearer ${seeded.token}` } })
  let bytes = 0
  for await (const piece of response.body ?? []) bytes += (piece as Uint8Array).length
  const megabytes = await child.ask<number>('memory')
  await child.stop()
  return {
    rows: [
      row(
        `memory while listing ${builds} builds of ${jobs} jobs`,
        `${Math.round(megabytes)} MB`,
        `for an answer of ${Math.round(bytes / 1024 ** 2)} MB`,
      ),
    ],
    targets: [
      {
        what: `memory while listing ${builds} builds of ${jobs} jobs`,
        target: `< ${mostMegabytes} MB`,
        measured: `${Math.round(megabytes)} MB`,
        met: megabytes < mostMegabytes && bytes > builds * jobs * 500,
      },
    ],
  }
}
