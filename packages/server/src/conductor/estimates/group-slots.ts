// When a job gets its slot of a concurrency group, as far as the jobs in front of it are known.
import { sql } from 'kysely'
import { lengthsOf, type History } from '@millrace/engine/estimate/lengths.ts'
import { numbersFrom } from '@millrace/engine/estimate/random.ts'
import { slotTimes } from '@millrace/engine/estimate/slots.ts'
import { holdsSlot, JOB_STATES } from '@millrace/engine/states.ts'
import type { Db } from '../../db/pool.ts'
import { stepOf, type Queue } from './queue-rows.ts'

interface InGroup {
  state: string
  limit: number
  isEager: boolean
  pipeline: string
  step: string
  isInQueue: boolean
  ranSeconds: number | null
}

/** A group with more jobs in front has no estimate. */
const mostJobs = 100
const times = 25

const slotStates = sql`${JOB_STATES.filter(holdsSlot)}::text[]`

const inFront = ({ organizationId, queueId }: Queue, jobId: string, at: string) => sql<InGroup>`
  select j.state, me.concurrency_limit as "limit", me.concurrency_method = 'eager' as "isEager", j.pipeline_id as pipeline,
    ${stepOf} as step, j.queue_id is not distinct from ${queueId}::uuid as "isInQueue",
    greatest(0, extract(epoch from ${at}::timestamptz - j.started_at))::float8 as "ranSeconds"
  from jobs me join builds mine on mine.id = me.build_id
  join jobs j on j.organization_id = me.organization_id and j.concurrency_group = me.concurrency_group and j.untrusted = me.untrusted
  join builds b on b.id = j.build_id
  where me.organization_id = ${organizationId} and me.id = ${jobId} and j.id <> me.id and j.finished_at is null
    and (j.state = any (${slotStates}) or (
      j.retried_in_job_id is null and j.state in ('limiting', 'limited', 'waiting')
      and (j.scheduled_at, b.created_at, j.build_id, j.position, j.id)
        < (me.scheduled_at, mine.created_at, me.build_id, me.position, me.id)))
  order by j.scheduled_at, b.created_at, j.build_id, j.position, j.id limit ${sql.lit(mostJobs + 1)}`

/** Some possible numbers of seconds; null: not known. */
export async function findSlotTimes(
  db: Db,
  queue: Queue,
  jobId: string,
  history: History,
  now: Date,
): Promise<readonly number[] | null> {
  const { rows } = await inFront(queue, jobId, now.toISOString()).execute(db)
  const [first] = rows
  // It has its slot by now, or its group will be looked at.
  if (first === undefined) return [0]
  const isHolder = ({ state }: InGroup) => JOB_STATES.some((name) => name === state && holdsSlot(name))
  const relevant = rows.filter((job) => isHolder(job) || !(job.state === 'waiting' && job.isEager))
  const isKnown = (job: InGroup) =>
    job.isInQueue && (isHolder(job) ? job.ranSeconds !== null : job.state !== 'waiting')
  if (rows.length > mostJobs || !relevant.every(isKnown)) return null
  const lengths = (job: InGroup) => lengthsOf(history, job, job.ranSeconds ?? 0)
  const group = {
    limit: first.limit,
    holders: relevant.filter(isHolder).map(lengths),
    ahead: relevant.filter((job) => !isHolder(job)).map(lengths),
  }
  return slotTimes(group, numbersFrom(1), times)
}
