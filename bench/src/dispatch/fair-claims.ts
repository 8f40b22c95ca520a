// The time of a claim by one agent, on queues that are fair and on others: beside jobs that no agent can run, with many waiting jobs,
// and with many shares. The queues take turns, so what else the machine does changes the times but hardly their ratios.
import { sql } from 'kysely'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { claimJobs } from '@millrace/server/conductor/dispatch/claim.ts'
import { abilityOf } from '@millrace/server/conductor/dispatch/claimant.ts'
import { restartShares } from '@millrace/server/conductor/shares/share-key.ts'
import { inTransaction } from '@millrace/server/db/transaction.ts'
import { newId } from '@millrace/server/lib/ids.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedAgents, seedPipeline } from '../harness/seed.ts'

const rounds = 60
const few = 100
const many = [1000, 100_000]
const usualShares = 10
const manyShares = 1000
const kinds = 10
const most = 1.5
/** A statement may take ten seconds. */
const atOnce = 5000

interface Filled {
  what: string
  queueId: string
  agentId: string
  isFair: boolean
  times: number[]
}

interface Waiting {
  runnable: number
  /** Of a higher priority, with rules that no agent satisfies. */
  unrunnable?: number
  shares?: number
}

export async function fairClaims({ database, seeded }: BenchServer): Promise<Omit<Report, 'name'>> {
  const { db } = database
  const ctx = contextOn(database)
  const steps = JSON.stringify({ steps: [{ command: 'true' }] })
  const pipelineId = await seedPipeline(db, seeded, 'claims', steps)
  const made = await createBuild(ctx, seeded.orgId, aBuildRequest(pipelineId, { creatorId: seeded.userId }))
  if (!made.ok) throw new Error(made.message)

  const { id: jobId } = await db
    .selectFrom('jobs')
    .select('id')
    .where('build_id', '=', made.buildId)
    .executeTakeFirstOrThrow()

  /** Copies the job of the build. */
  async function addJobs(queueId: string, count: number, shares: number | null, rule: string) {
    const share = shares === null ? sql`null` : sql`'p:' || n % ${shares}::int`
    const rules = rule === '' ? sql`'[]'::jsonb` : sql`jsonb_build_array(${rule}::text || n % ${kinds}::int)`
    for (let there = 0; there < count; there += atOnce) {
      await sql`
        insert into jobs
        select copy.* from jobs j cross join generate_series(1, ${Math.min(atOnce, count - there)}::int) n
          cross join lateral jsonb_populate_record(j, jsonb_build_object('id', case when n > 0 then gen_random_uuid() end, 'queue_id', ${queueId}::uuid,
            'share_key', ${share}, 'priority', ${rule === '' ? 0 : 1}::int, 'agent_query_rules', ${rules})) copy
        where j.id = ${jobId}`.execute(db)
    }
  }

  async function fill(what: string, isFair: boolean, waiting: Waiting): Promise<Filled> {
    const queueId = newId()
    await db
      .insertInto('cluster_queues')
      .values({
        id: queueId,
        organization_id: seeded.orgId,
        cluster_id: seeded.clusterId,
        key: queueId,
        fair_by: isFair ? 'pipeline' : 'none',
      })
      .execute()
    await inTransaction(db, (trx) => restartShares(trx, seeded.orgId, queueId))
    const { agentIds } = await seedAgents(db, seeded, 1, queueId)
    const shares = isFair ? (waiting.shares ?? usualShares) : null
    await addJobs(queueId, waiting.runnable, shares, '')
    await addJobs(queueId, waiting.unrunnable ?? 0, shares, 'machine=')
    return { what, queueId, agentId: agentIds[0] ?? '', isFair, times: [] }
  }

  async function claimOnce({ queueId, agentId, isFair, times }: Filled): Promise<void> {
    const claimants = [{ agentId, ability: abilityOf(['queue=default']) }]
    const start = performance.now()
    const { assigned } = await claimJobs(ctx, { organizationId: seeded.orgId, queueId, isFair }, claimants)
    times.push(performance.now() - start)
    const [taken] = assigned
    if (taken === undefined) throw new Error('No job was claimed.')
    await sql`update jobs set state = 'scheduled', agent_id = null where id = ${taken.jobId}`.execute(db)
  }

  const measured: Array<{ alone: Filled; others: Filled[] }> = []
  for (const isFair of [false, true]) {
    const name = isFair ? 'a fair claim' : 'a claim'
    const alone = await fill(`${name}, ${few} jobs waiting`, isFair, { runnable: few })
    const others: Filled[] = []
    for (const unrunnable of many) {
      const what = `${name} beside ${shown(unrunnable)} that no agent can run`
      others.push(await fill(what, isFair, { runnable: few, unrunnable }))
    }
    for (const runnable of many)
      others.push(await fill(`${name} with ${shown(runnable)} jobs waiting`, isFair, { runnable }))
    measured.push({ alone, others })
  }
  const ofManyShares = await fill(
    `a fair claim with ${shown(100_000)} jobs of ${shown(manyShares)} shares`,
    true,
    {
      runnable: 100_000,
      shares: manyShares,
    },
  )
  await sql`vacuum analyze jobs`.execute(db)
  const all = [...measured.flatMap(({ alone, others }) => [alone, ...others]), ofManyShares]
  for (let round = 0; round < rounds; round++) for (const queue of all) await claimOnce(queue)
  return {
    rows: all.map((queue) => row(queue.what, `${medianOf(queue).toFixed(1)} ms`)),
    targets: measured.flatMap(({ alone, others }) =>
      others.map((queue) => {
        const ratio = medianOf(queue) / medianOf(alone)
        return {
          what: `${queue.what} : ${few} jobs waiting`,
          target: `< ${most}`,
          measured: ratio.toFixed(2),
          met: ratio < most,
        }
      }),
    ),
  }
}

const shown = (count: number) => count.toLocaleString('en')

const medianOf = ({ times }: Filled): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN
