// Empty jobs per second: over HTTP with simulated agents, and through the conductor alone.
import { sql } from 'kysely'
import { act } from '@millrace/server/conductor/act.ts'
import { acceptAssigned, type Assigned } from '@millrace/server/conductor/dispatch/assign.ts'
import { claimJobs } from '@millrace/server/conductor/dispatch/claim.ts'
import { abilityOf } from '@millrace/server/conductor/dispatch/claimant.ts'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import type { Context } from '@millrace/server/context.ts'
import { callAgentApi, connectAgent, type Session } from '../harness/agent-http.ts'
import { analyze, type BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedAgents, seedPipeline } from '../harness/seed.ts'

const mostAgents = 50
const agentCounts = [2, mostAgents]
const jobs = 1000
const warmUpRounds = 3
const targets = { http: 150, conductor: 500 }
/** One job per build, because jobs of one build wait for its lock. */
const configuration = 'steps: [{command: "true"}]'

export async function jobRate(bench: BenchServer): Promise<Omit<Report, 'name'>> {
  const { database, seeded } = bench
  const ctx = contextOn(database)
  const pipelineId = await seedPipeline(database.db, seeded, 'no-op', configuration)
  const report: Omit<Report, 'name'> = { rows: [], targets: [] }
  const show = (what: string, perSecond: number, target: number) => {
    report.rows.push(
      row(what, `${Math.round(perSecond)}/s`, `${(perSecond / target).toFixed(2)} of the target`),
    )
    report.targets.push({
      what,
      target: `≥ ${target}/s`,
      measured: `${Math.round(perSecond)}/s`,
      met: perSecond >= target,
    })
  }
  const measure = async (run: () => Promise<number>, rounds: number) => {
    let perSecond = 0
    for (let round = 0; round < rounds; round++) {
      await queueJobs(ctx, bench, pipelineId)
      perSecond = await run()
    }
    return perSecond
  }
  // Warm up the compiler and the query plans of all connections.
  await measure(() => overHttp(bench, mostAgents), warmUpRounds)
  for (const agents of agentCounts) {
    const perSecond = await measure(() => overHttp(bench, agents), 1)
    show(`no-op jobs, ${agents} simulated agents`, perSecond, targets.http)
  }
  const conductor = await openConductor(ctx, bench)
  show(
    'no-op jobs, conductor and database alone',
    await measure(conductor, warmUpRounds + 1),
    targets.conductor,
  )
  return report
}

async function queueJobs(ctx: Context, bench: BenchServer, pipelineId: string): Promise<void> {
  const { seeded } = bench
  for (let made = 0; made < jobs; made += 1) {
    const created = await createBuild(
      ctx,
      seeded.orgId,
      aBuildRequest(pipelineId, { creatorId: seeded.userId }),
    )
    if (!created.ok) throw new Error(created.message)
  }
  await analyze(bench)
}

/** Ends with the last job, because agents without one still wait for their pings. */
async function overHttp({ address, agentToken }: BenchServer, agents: number): Promise<number> {
  const sessions = await Promise.all(Array.from({ length: agents }, () => connectAgent(address, agentToken)))
  let left = jobs
  const start = performance.now()
  let end = start
  await Promise.all(
    sessions.map(async (session) => {
      while (left > 0) {
        if (!(await takeOne(address, session))) continue
        left -= 1
        end = performance.now()
      }
    }),
  )
  for (const { token } of sessions) await callAgentApi(address, token, 'POST', 'disconnect')
  return jobs / ((end - start) / 1000)
}

/** Like a public agent: one request per step. */
async function takeOne(address: string, { token }: Session): Promise<boolean> {
  const { job } = await callAgentApi<{ job?: { id: string } }>(address, token, 'GET', 'ping')
  if (job === undefined) return false
  const path = `jobs/${job.id}`
  const taken = await callAgentApi<{ token: string }>(address, token, 'PUT', `${path}/accept`)
  await callAgentApi(address, taken.token, 'PUT', `${path}/start`, { json: {} })
  await callAgentApi(address, taken.token, 'PUT', `${path}/finish`, { json: { exit_status: '0' } })
  return true
}

const conductorAgents = 16

/** Returns a function that runs the waiting jobs. */
async function openConductor(
  ctx: Context,
  { seeded, database }: BenchServer,
): Promise<() => Promise<number>> {
  const { agentIds, queueId } = await seedAgents(database.db, seeded, conductorAgents)
  const ability = abilityOf(['queue=default'])
  const queue = { organizationId: seeded.orgId, queueId }
  const claimants = agentIds.map((agentId) => ({ agentId, ability }))
  return async () => {
    const { rows } = await sql<{ id: string; build_id: string }>`
      select id, build_id from jobs where state = 'scheduled'`.execute(database.db)
    const buildOf = new Map(rows.map(({ id, build_id }) => [id, build_id]))
    const start = performance.now()
    const running = new Set<Promise<void>>()
    const free = [...claimants]
    for (let left = jobs; left > 0;) {
      // Like dispatcher.ts: one claim at a time for all waiting agents.
      const { assigned } = await claimJobs(ctx, queue, free.splice(0))
      left -= assigned.length
      for (const taken of assigned) {
        const run = runJob(ctx, seeded.orgId, buildOf.get(taken.jobId) ?? '', taken).then(() => {
          running.delete(run)
          free.push({ agentId: taken.agentId, ability })
        })
        running.add(run)
      }
      if (free.length === 0) await Promise.race(running)
    }
    await Promise.all(running)
    return jobs / ((performance.now() - start) / 1000)
  }
}

async function runJob(
  ctx: Context,
  organizationId: string,
  buildId: string,
  { agentId, jobId }: Assigned,
): Promise<void> {
  if (!(await acceptAssigned(ctx, { id: agentId, organizationId }, jobId)))
    throw new Error('A job was not accepted.')
  for (const event of [
    { type: 'start', jobId },
    { type: 'finish', jobId, exitStatus: 0, signal: null, signalReason: null },
  ] as const) {
    const moved = await act(ctx, organizationId, buildId, event)
    if (!moved.ok) throw new Error(moved.message)
  }
}
