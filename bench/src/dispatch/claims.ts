// Claims per second with a thousand waiting agents: beside jobs that none of them can run, and with many waiting jobs.
import { sql } from 'kysely'
import { claimJobs } from '@millrace/server/conductor/dispatch/claim.ts'
import { abilityOf } from '@millrace/server/conductor/dispatch/claimant.ts'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { newId } from '@millrace/server/lib/ids.ts'
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
const deletedAtOnce = 5000
/** Jobs that no agent can run, in so many lists of rules. */
const unrunnable = [0, 1000, 100_000]
const kinds = 10
const mostUnrunnable = 1.5

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

  const waiting = async (jobs: number, perBuild: number, rules: readonly string[] = ['']) => {
    const steps = rules.map((rule) => ({
      command: 'true',
      parallelism: perBuild / rules.length,
      ...(rule === '' ? {} : { agents: [rule], priority: 1 }),
    }))
    const pipelineId = await seedPipeline(db, seeded, newId().slice(-12), JSON.stringify({ steps }))
    for (let made = 0; made < jobs; made += perBuild) {
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
  const besides: Array<{ jobs: number; rate: number }> = []
  const rules = Array.from({ length: kinds }, (_, kind) => `machine=${kind}`)
  let there = 0
  for (const jobs of unrunnable) {
    await waiting(jobs - there, Math.min(1000, jobs - there), rules)
    there = jobs
    besides.push({ jobs, rate: await measure() })
  }
  const [alone = NaN] = besides.map(({ rate }) => rate)
  // A statement may take ten seconds.
  for (let left = there; left > 0; left -= deletedAtOnce) {
    await sql`
      delete from jobs where id in (
        select id from jobs where priority = 1 limit ${deletedAtOnce})`.execute(db)
  }
  await sql`vacuum analyze jobs`.execute(db)
  const withFew = await measure()
  await waiting(many - few, perBuild)
  const withMany = await measure()
  const ratio = withFew / withMany
  const what = `claims with ${few} : ${many.toLocaleString('en')} jobs waiting, ${agents.toLocaleString('en')} idle agents`
  return {
    rows: [
      ...besides.map(({ jobs, rate }) =>
        row(
          `claims of ${few} jobs beside ${jobs.toLocaleString('en')} that no agent can run`,
          `${Math.round(rate)}/s`,
        ),
      ),
      row(`claims, ${few} jobs waiting`, `${Math.round(withFew)}/s`),
      row(`claims, ${many.toLocaleString('en')} jobs waiting`, `${Math.round(withMany)}/s`),
    ],
    targets: [
      ...besides.slice(1).map(({ jobs, rate }) => ({
        what: `claims beside 0 : ${jobs.toLocaleString('en')} jobs that no agent can run`,
        target: `< ${mostUnrunnable}`,
        measured: (alone / rate).toFixed(2),
        met: alone / rate < mostUnrunnable,
      })),
      { what, target: `< ${most}`, measured: ratio.toFixed(2), met: ratio < most },
    ],
  }
}
