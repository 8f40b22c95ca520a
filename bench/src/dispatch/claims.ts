// Claims per second, with a hundred and a hundred thousand waiting jobs, and a thousand waiting agents.
import { sql } from 'kysely'
import { abilityOf, claimJobs } from '@millrace/server/conductor/dispatch/claim.ts'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedAgents, seedPipeline } from '../harness/seed.ts'

const few = 100
const many = 100_000
const agents = 1000
const most = 2
const rounds = 20
const atOnce = 50
const perBuild = 2000

export async function claimRate({ database, seeded }: BenchServer): Promise<Omit<Report, 'name'>> {
  const { db } = database
  const ctx = contextOn(database)
  const { agentIds, queueId } = await seedAgents(db, seeded, agents)
  const ability = abilityOf(['queue=default'])
  const claimants = agentIds.map((agentId) => ({ agentId, ability }))

  /** All agents claim at once, as they do when jobs arrive; then the claims are undone. */
  const measure = async (): Promise<number> => {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      const start = performance.now()
      const { assigned } = await claimJobs(ctx, { organizationId: seeded.orgId, queueId }, claimants)
      times.push((performance.now() - start) / assigned.length)
      if (assigned.length !== atOnce) throw new Error(`${assigned.length} jobs were claimed at once.`)
      await sql`update jobs set state = 'scheduled', agent_id = null where state = 'assigned'`.execute(db)
    }
    times.sort((a, b) => a - b)
    return 1000 / (times[Math.floor(times.length / 2)] ?? 1)
  }

  const waiting = async (jobs: number, parallelism: number) => {
    const pipelineId = await seedPipeline(
      db,
      seeded,
      `waiting-${jobs}`,
      `steps: [{command: "true", parallelism: ${parallelism}}]`,
    )
    for (let made = 0; made < jobs; made += parallelism) {
      const created = await createBuild(
        ctx,
        seeded.orgId,
        aBuildRequest(pipelineId, { creatorId: seeded.userId }),
      )
      if (!created.ok) throw new Error(created.message)
    }
    await sql`vacuum analyze jobs`.execute(db)
  }

  await waiting(few, few)
  const withFew = await measure()
  await waiting(many - few, perBuild)
  const withMany = await measure()
  const ratio = withFew / withMany
  const what = `claims with ${few} : ${many.toLocaleString('en')} jobs waiting, ${agents.toLocaleString('en')} idle agents`
  return {
    rows: [
      row(`claims, ${few} jobs waiting`, `${Math.round(withFew)}/s`),
      row(`claims, ${many.toLocaleString('en')} jobs waiting`, `${Math.round(withMany)}/s`),
    ],
    targets: [{ what, target: `< ${most}`, measured: ratio.toFixed(2), met: ratio < most }],
  }
}
