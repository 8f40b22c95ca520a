// The time of a claim on a fair queue: beside jobs that no agent can run, with many waiting jobs, and with many shares.
import { sql } from 'kysely'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { claimJobs } from '@millrace/server/conductor/dispatch/claim.ts'
import { abilityOf } from '@millrace/server/conductor/dispatch/claimant.ts'
import { restartShares } from '@millrace/server/conductor/shares/share-key.ts'
import { inTransaction } from '@millrace/server/db/transaction.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedAgents, seedPipeline } from '../harness/seed.ts'

const rounds = 50
const few = 100
const many = [1000, 100_000]
const usualShares = 10
const manyShares = 1000
const kinds = 10
const most = 1.5

export async function fairClaims({ database, seeded }: BenchServer): Promise<Omit<Report, 'name'>> {
  const { db } = database
  const ctx = contextOn(database)
  const { agentIds, queueId } = await seedAgents(db, seeded, 1)
  const [agentId = ''] = agentIds
  const claimants = [{ agentId, ability: abilityOf(['queue=default']) }]
  await sql`update cluster_queues set fair_by = 'pipeline' where id = ${queueId}`.execute(db)
  const restart = () => inTransaction(db, (trx) => restartShares(trx, seeded.orgId, queueId))
  await restart()
  const pipelineId = await seedPipeline(db, seeded, 'fair', JSON.stringify({ steps: [{ command: 'true' }] }))
  const made = await createBuild(ctx, seeded.orgId, aBuildRequest(pipelineId, { creatorId: seeded.userId }))
  if (!made.ok) throw new Error(made.message)

  /** Copies the job of the build. `rule` is a rule that no agent satisfies, or ''. */
  const copy = async (jobs: number, shares: number, rule: string) => {
    await sql`
      insert into jobs
      select made.* from jobs j cross join generate_series(1, ${jobs}::int) n
        cross join lateral jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'share_key', 'p:' || n % ${shares}::int,
          'priority', case when ${rule}::text = '' then 0 else 1 end,
          'agent_query_rules', case when ${rule}::text = '' then '[]'
            else jsonb_build_array(${rule}::text || n % ${kinds}::int) end)) made
      where j.id = (select id from jobs where queue_id = ${queueId} order by created_at, id limit 1)`.execute(
      db,
    )
    await sql`vacuum analyze jobs`.execute(db)
  }
  const measure = async (): Promise<number> => {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      const start = performance.now()
      const { assigned } = await claimJobs(
        ctx,
        { organizationId: seeded.orgId, queueId, isFair: true },
        claimants,
      )
      times.push(performance.now() - start)
      if (assigned.length !== 1) throw new Error('No job was claimed.')
      await sql`update jobs set state = 'scheduled', agent_id = null where state = 'assigned'`.execute(db)
    }
    times.sort((a, b) => a - b)
    return times[Math.floor(times.length / 2)] ?? NaN
  }

  await copy(few, usualShares, '')
  const alone = await measure()
  const besides: Array<{ what: string; ms: number }> = []
  let there = 0
  for (const jobs of many) {
    await copy(jobs - there, usualShares, 'machine=')
    there = jobs
    besides.push({ what: `beside ${jobs.toLocaleString('en')} that no agent can run`, ms: await measure() })
  }
  await sql`delete from jobs where priority = 1`.execute(db)
  there = few
  for (const jobs of many) {
    await copy(jobs - there, usualShares, '')
    there = jobs
    besides.push({ what: `with ${jobs.toLocaleString('en')} jobs waiting`, ms: await measure() })
  }
  await sql`update jobs set share_key = 'p:' || hashtext(id::text) % ${manyShares}::int where share_key is not null`.execute(
    db,
  )
  await sql`vacuum analyze jobs`.execute(db)
  const ofManyShares = await measure()
  const shown = (ms: number) => `${ms.toFixed(1)} ms`
  return {
    rows: [
      row(`a fair claim, ${few} jobs of ${usualShares} shares waiting`, shown(alone)),
      ...besides.map(({ what, ms }) => row(`a fair claim, ${what}`, shown(ms))),
      row(`a fair claim, 100,000 jobs of 2,000 shares waiting`, shown(ofManyShares)),
    ],
    targets: besides.map(({ what, ms }) => ({
      what: `a fair claim ${what}, beside ${few} jobs`,
      target: `< ${most}`,
      measured: (ms / alone).toFixed(2),
      met: ms / alone < most,
    })),
  }
}
