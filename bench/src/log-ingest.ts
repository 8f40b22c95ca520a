// The rate of log ingest: chunks as agents send them, from several jobs at once.
import { gzipSync } from 'node:zlib'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { callAgentApi, connectAgent } from './agent-http.ts'
import type { BenchServer } from './bench-server.ts'
import { contextOn } from './context.ts'
import { row, type Report } from './report.ts'
import { aBuildRequest, seedPipeline } from './seed.ts'

const agents = 8
const chunkBytes = 100 * 1024
const seconds = 5
/** Ten agents that print as fast as a terminal. */
const target = 20

export async function logIngest(bench: BenchServer): Promise<Omit<Report, 'name'>> {
  const { address, agentToken, database, seeded } = bench
  const pipelineId = await seedPipeline(
    database.db,
    seeded,
    'talk',
    `steps: [{command: "true", parallelism: ${agents}}]`,
  )
  const created = await createBuild(
    contextOn(database),
    seeded.orgId,
    aBuildRequest(pipelineId, { creatorId: seeded.userId }),
  )
  if (!created.ok) throw new Error(created.message)
  const jobs = await Promise.all(Array.from({ length: agents }, () => startJob(address, agentToken)))
  const text = Buffer.from(
    Array.from(
      { length: 2000 },
      (_, line) => `${line} ${Math.random().toString(36)} compiled in ${line % 97} ms\n`,
    ).join(''),
  ).subarray(0, chunkBytes)
  const gzipped = gzipSync(text, { level: 1 })
  let sent = 0
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    jobs.map(async ({ id, token }) => {
      for (let sequence = 1; performance.now() < end; sequence++) {
        const query = `sequence=${sequence}&offset=${(sequence - 1) * text.length}&size=${text.length}`
        await callAgentApi(address, token, 'POST', `jobs/${id}/chunks?${query}`, { gzipped })
        sent += text.length
      }
    }),
  )
  const perSecond = sent / 1024 ** 2 / ((performance.now() - start) / 1000)
  const what = `log ingest, ${agents} jobs at once`
  const measured = `${perSecond.toFixed(1)} MiB/s`
  return {
    rows: [row(what, measured, `${(perSecond / target).toFixed(2)} of the target`)],
    targets: [{ what, target: `≥ ${target} MiB/s`, measured, met: perSecond >= target }],
  }
}

export async function startJob(address: string, agentToken: string): Promise<{ id: string; token: string }> {
  const session = await connectAgent(address, agentToken)
  for (;;) {
    const { job } = await callAgentApi<{ job?: { id: string } }>(address, session.token, 'GET', 'ping')
    if (job === undefined) continue
    const json = { start: true }
    const taken = await callAgentApi<{ token: string }>(
      address,
      session.token,
      'PUT',
      `jobs/${job.id}/accept`,
      { json },
    )
    return { id: job.id, token: taken.token }
  }
}
