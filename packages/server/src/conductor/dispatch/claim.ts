// Finds the best runnable jobs of a queue for agents that wait, and assigns them.
import { sql, type RawBuilder } from 'kysely'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { prepared } from '../../db/statement.ts'
import { commitWith } from '../../db/batch.ts'
import { inTransaction, violatedUnique } from '../../db/transaction.ts'
import { claimFairly } from './claim-fairly.ts'
import { abilitiesOf, type Claimant, type Claims, type Queue } from './claimant.ts'
import { assign, assignment, movedAndPublished, type Assigned, type Pair } from './assign.ts'

const mostAtOnce = 50

/** Assigns the best jobs of the queue to these agents, preferring the first of them. */
export async function claimJobs(ctx: Context, queue: Queue, claimants: readonly Claimant[]): Promise<Claims> {
  const [first] = claimants
  for (let attempt = 1; ; attempt++) {
    try {
      if (queue.isFair) return await claimFromShares(ctx, queue, claimants)
      if (first !== undefined && claimants.length === 1) return await claimOne(ctx, queue, first)
      return await inTransaction(ctx.db, (trx) => claim(trx, ctx, queue, claimants))
    } catch (error) {
      // The next attempt leaves the agent out.
      if (attempt === 5 || !isAgentTaken(error)) throw error
    }
  }
}

/** Another transaction has just assigned a job to the agent. */
export const isAgentTaken = (error: unknown): boolean => violatedUnique(error) === 'jobs_on_agent_key'

async function claimFromShares(ctx: Context, queue: Queue, claimants: readonly Claimant[]): Promise<Claims> {
  const claims = await inTransaction(ctx.db, (trx) => claimFairly(trx, ctx, queue, claimants))
  if (claims.assigned.length + claims.unfit.length > 0) return claims
  // Jobs that were made while the queue became fair.
  return inTransaction(ctx.db, (trx) => claim(trx, ctx, queue, claimants))
}

/** One agent needs no choice, so one statement is enough. */
async function claimOne(ctx: Context, queue: Queue, claimant: Claimant): Promise<Claims> {
  const { rows } = await bestFor(ctx, queue, claimant).execute(ctx.db)
  return claimsOf(claimant, rows)
}

/** Assigns the best job of the queue to the agent. */
export function bestFor(ctx: Context, { organizationId, queueId }: Queue, { agentId, ability }: Claimant) {
  const at = ctx.now().toISOString()
  const { acceptSeconds } = ctx.config.timers
  return assignBest(organizationId, queueId, abilitiesOf([ability]), agentId, at, acceptSeconds)
}

/** `rows`: of `bestFor`. */
export function claimsOf({ agentId }: Claimant, [best]: readonly Best[]): Claims {
  if (best === undefined) return { assigned: [], unfit: [] }
  if (best.jobId === null) return { assigned: [], unfit: [agentId] }
  return { assigned: [{ ...best, agentId }], unfit: [] }
}

async function claim(trx: Trx, ctx: Context, queue: Queue, claimants: readonly Claimant[]): Promise<Claims> {
  const candidates = await lockBest(trx, queue, claimants)
  const pairs = pair(candidates, claimants)
  if (pairs.length === 0) return { assigned: [], unfit: [] }
  const [assigned] = await commitWith(trx, [assign(ctx, pairs)])
  const served = new Set(assigned.map(({ agentId }) => agentId))
  return { assigned, unfit: pairs.map(({ agentId }) => agentId).filter((agentId) => !served.has(agentId)) }
}

interface Candidate {
  id: string
  rules: string[]
  /** The agent of the job that this one retries, where the queue prefers another agent for retries. */
  avoid: string | null
}

async function lockBest(
  trx: Trx,
  { organizationId, queueId, isFair }: Queue,
  claimants: readonly Claimant[],
): Promise<Candidate[]> {
  const abilities = abilitiesOf(claimants.map(({ ability }) => ability))
  const most = Math.min(claimants.length, mostAtOnce)
  const lock = isFair ? lockWithoutShare : lockCandidates
  const { rows } = await lock(organizationId, queueId, abilities, most).execute(trx)
  return rows
}

/** For queries with `jobs j`: agents get the first job of a queue that they can run. Untrusted jobs come last. */
export const dispatchOrder = sql`j.untrusted, j.priority desc, j.scheduled_at, j.position, j.id`

/** So many of the best jobs may be locked by other claims, which take them, before this one finds nothing. */
const mostLocked = 100

/**
 * Locks the best jobs of the queue that an agent with one of these abilities can run, at most `most`. Each different list of
 * rules is compared once, by the index jobs_by_rules, so jobs that no agent can run cost nothing, however many there are.
 */
const selectBest = <Row>(
  columns: RawBuilder<Row>,
  organizationId: string,
  queueId: string,
  abilities: string,
  most: number | RawBuilder<number>,
  isFair: RawBuilder<unknown> = sql`q.fair_by = 'none'`,
  also: RawBuilder<unknown> = sql``,
): RawBuilder<Row> => {
  const waits = sql`j.queue_id = ${queueId} and j.organization_id = ${organizationId} and j.state = 'scheduled'`
  const next = (after: RawBuilder<unknown>) => sql`
    select rules_key(j.agent_query_rules) as key, j.agent_query_rules as rules from jobs j
    where ${waits} ${after} order by rules_key(j.agent_query_rules) limit 1`
  return sql`
    with recursive kinds as (
      (${next(sql``)})
      union all
      select later.* from kinds cross join lateral (
        ${next(sql`and rules_key(j.agent_query_rules) > kinds.key`)}) later
    ), best as materialized (
      select j.id from kinds cross join lateral (
        select * from jobs j where ${waits} and rules_key(j.agent_query_rules) = kinds.key ${also}
        order by ${dispatchOrder} limit ${most} + ${sql.lit(mostLocked)}) j
      where exists (
        select from jsonb_array_elements(${abilities}::jsonb) as able (rules)
        where to_jsonb(kinds.rules) <@ able.rules)
      order by ${dispatchOrder} limit ${most} + ${sql.lit(mostLocked)}
    )
    select ${columns} from jobs j join cluster_queues q on q.id = j.queue_id
    where j.id in (select id from best) and ${waits} and q.dispatch_paused_at is null and ${isFair}
    order by ${dispatchOrder}
    limit ${most} for update of j skip locked`
}

const candidateColumns = sql<Candidate>`
  j.id, j.agent_query_rules as rules,
  case q.retry_agent_affinity when 'prefer-different' then
    (select source.agent_id from jobs source where source.id = j.retry_source_job_id) end as avoid`

const lockCandidates = prepared((organizationId: string, queueId: string, abilities: string, most: number) =>
  selectBest(candidateColumns, organizationId, queueId, abilities, most),
)

const lockWithoutShare = prepared(
  (organizationId: string, queueId: string, abilities: string, most: number) =>
    selectBest(
      candidateColumns,
      organizationId,
      queueId,
      abilities,
      most,
      sql`q.fair_by <> 'none'`,
      sql`and j.share_key is null`,
    ),
)

function pair(candidates: readonly Candidate[], claimants: readonly Claimant[]): Pair[] {
  const free = [...claimants]
  return candidates.flatMap(({ id, rules, avoid }) => {
    const fits = ({ ability }: Claimant) => rules.every((rule) => ability.rules.has(rule))
    const other = free.findIndex((agent) => agent.agentId !== avoid && fits(agent))
    const at = other >= 0 ? other : free.findIndex(fits)
    const [chosen] = at < 0 ? [] : free.splice(at, 1)
    return chosen === undefined ? [] : [{ agentId: chosen.agentId, jobId: id }]
  })
}

/** No row: there is no job. A row without a job: the agent may not take one. */
type Best = Omit<Assigned, 'agentId'> | { jobId: null }

const assignBest = prepared(
  (
    organizationId: string,
    queueId: string,
    abilities: string,
    agentId: string,
    at: string,
    acceptSeconds: number,
  ) => {
    const columns = sql`j.id as job_id, ${agentId}::uuid as agent_id`
    return sql<Best>`
      with p as materialized (${selectBest(columns, organizationId, queueId, abilities, sql.lit(1))}),
        ${movedAndPublished(at, ['scheduled', 'assigned'], assignment(sql`p`, at, acceptSeconds))}
      select moved.id as "jobId", moved.build_id as "buildId", moved.runnable_at as "runnableAt"
      from p left join moved on moved.id = p.job_id`
  },
)
