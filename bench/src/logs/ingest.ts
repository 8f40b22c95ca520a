// The rate of log ingest: chunks as agents send them, from several jobs at once.
import { gzipSync } from 'node:zlib'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { callAgentApi, connectAgent } from '../harness/agent-http.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedPipeline } from '../harness/seed.ts'

const seconds = 5
const fastJobs = 8
const fastBytes = 100 * 1024
/** Ten agents that print as fast as a terminal. */
const target = 20
const steadyJobs = 200
const steadyBytes = 1024

export async function logIngest(bench: BenchServer): Promise<Omit<Report, 'name'>> {
  const fast = await startJobs(bench, 'talk', fastJobs)
  const chunks = await sendChunks(bench, fast, fastBytes)
  const perSecond = (chunks * fastBytes) / 1024 ** 2 / seconds
  const steady = await startJobs(bench, 'mutter', steadyJobs)
  const before = await countWrites(bench)
  const small = await sendChunks(bench, steady, steadyBytes)
  const writes = (await countWrites(bench)) - before
  const what = `log ingest, ${fastJobs} jobs at once`
  const measured = `${perSecond.toFixed(1)} MiB/s`
  return {
    rows: [
      row(what, measured, `${(perSecond / target).toFixed(2)} of the target`),
      row(
        `log ingest, ${steadyJobs} jobs at once`,
        `${(small / seconds).toFixed(0)} chunks/s`,
        `${(writes / small).toFixed(3)} commits per chunk`,
      ),
    ],
    targets: [{ what, target: `≥ ${target} MiB/s`, measured, met: perSecond >= target }],
  }
}

interface StartedJob {
  id: string
  token: string
}

async function startJobs(bench: BenchServer, slug: string, count: number): Promise<StartedJob[]> {
  const { address, agentToken, database, seeded } = bench
  const steps = `steps: [{command: "true", parallelism: ${count}}]`
  const pipelineId = await seedPipeline(database.db, seeded, slug, steps)
  const request = aBuildRequest(pipelineId, { creatorId: seeded.userId })
  const created = await createBuild(contextOn(database), seeded.orgId, request)
  if (!created.ok) throw new Error(created.message)
  return Promise.all(Array.from({ length: count }, () => startJob(address, agentToken)))
}

/** Each job sends its next chunk after the answer to the one before. Returns how many were answered. */
async function sendChunks({ address }: BenchServer, jobs: readonly StartedJob[], bytes: number) {
  const text = Buffer.from(
    Array.from(
      { length: 2000 },
      (_, line) => `${line} ${Math.random().toString(36)} compiled in ${line % 97} ms\n`,
    ).join(''),
  ).subarray(0, bytes)
  const gzipped = gzipSync(text, { level: 1 })
  const end = performance.now() + seconds * 1000
  let sent = 0
  await Promise.all(
    jobs.map(async ({ id, token }) => {
      for (let sequence = 1; performance.now() < end; sequence++) {
        const query = `sequence=${sequence}&offset=${(sequence - 1) * text.length}&size=${text.length}`
        await callAgentApi(address, token, 'POST', `jobs/${id}/chunks?${query}`, { gzipped })
        sent++
      }
    }),
  )
  return sent
}

/** Only a transaction that writes gets a number. */
async function countWrites({ database }: BenchServer): Promise<number> {
  const { rows } = await database.pool.query<{ next: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
  )
  return Number(rows[0]?.next)
}

export async function startJob(address: string, agentToken: string): Promise<StartedJob> {
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
