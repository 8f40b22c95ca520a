import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import { dispatchOrder } from '../../../conductor/dispatch/claim.ts'
import { fairPlaces, findMachines } from '../../../conductor/dispatch/fair-order.ts'
import { estimateQueue } from '../../../conductor/estimates/estimate-queue.ts'
import { isEligible } from '../../../conductor/dispatch/eligible.ts'
import type { Db } from '../../../db/pool.ts'
import { presentEstimate } from '../../job/estimate.ts'
import { jobsInBuilds } from '../../job/job-json.ts'
import { listedJobJson } from '../../job/listed-job.ts'
import { judgeScheduled } from '../../job/waiting-reason.ts'
import type { QueueRow } from './queries.ts'

interface Page {
  url: string
  now: Date
  limit: number
  offset: number
}

/**
 * The waiting jobs of a queue as JSON, in the order in which agents get them. null: a job of a pipeline that the caller may not
 * see, which still has its position.
 */
export async function listWaitingJobs(
  db: Db,
  org: Organization,
  caller: Caller,
  queue: QueueRow,
  { url, now, limit, offset }: Page,
): Promise<Array<string | null>> {
  const isFair = queue.fair_by !== 'none'
  const machines = isFair ? await findMachines(db, org.id, queue.id) : null
  const ordered = isFair
    ? sql`select id, rules, place from (${fairPlaces(org.id, queue.id, machines)}) p order by place`
    : sql`
        select j.id, j.agent_query_rules as rules, row_number() over (order by ${dispatchOrder}) as place from jobs j
        where j.organization_id = ${org.id} and j.queue_id = ${queue.id} and j.state = 'scheduled' order by ${dispatchOrder}`
  const { rows } = await sql<{ id: string; job: string | null; rules: string[]; eligible: number }>`
    with waiting as materialized (
      ${ordered} limit ${limit} offset ${offset}),
    -- Most jobs of a queue have the same rules.
    able as materialized (
      select wanted.rules, (
        select count(*) from agents a
        where a.organization_id = ${org.id} and a.queue_id = ${queue.id} and ${isEligible(sql`wanted.rules`)}) as agents
      from (select distinct rules from waiting) wanted)
    select j.id, case when ${visiblePipelines(org, caller)} then ${listedJobJson(url)} end as job, able.rules, able.agents as eligible
    from ${jobsInBuilds} join able on able.rules = j.agent_query_rules join waiting on waiting.id = j.id
    where j.organization_id = ${org.id} and j.id = any (array(select id from waiting))
    order by waiting.place`.execute(db)
  const estimates = await estimateQueue(db, { organizationId: org.id, queueId: queue.id }, now)
  return rows.map(({ id, job, rules, eligible }, index) => {
    if (job === null) return null
    const own = JSON.stringify({
      position: offset + index + 1,
      waiting_reason: explain(queue, { rules, jobsAhead: offset + index, eligibleAgents: eligible }),
      ...presentEstimate(estimates.of(id, eligible)),
    })
    return `${own.slice(0, -1)},${job.slice(1)}`
  })
}

/** Why agents of hosted queues are not there yet is explained for one job alone. */
function explain(
  queue: QueueRow,
  judged: Omit<Parameters<typeof judgeScheduled>[0], 'queue'>,
): string | null {
  if (queue.instance_shape !== null && queue.dispatch_paused_at === null) return null
  return judgeScheduled({ queue, ...judged }).reason
}
