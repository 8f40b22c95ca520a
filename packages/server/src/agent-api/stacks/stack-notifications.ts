// Short messages of a stack about its jobs. Valid ones are stored even where others are invalid.
import { sql } from 'kysely'
import type { StackNotification } from '@millrace/protocol/stacks.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { isUuid, newId } from '../../lib/ids.ts'
import type { Stack } from './stack-rows.ts'

const mostPerJob = 100
const longestDetail = 256
/** How far apart two clocks may be. */
const skewMs = 60_000

interface Notification {
  jobId: string
  detail: string
  occurredAt: string
}

/** The errors, each with the places of its messages. */
type Mistakes = Array<{ error: string; indexes: number[] }>

export async function storeNotifications(
  ctx: Context,
  stack: Stack,
  given: readonly StackNotification[],
): Promise<Mistakes> {
  return inTransaction(ctx.db, async (trx) => {
    await lockStack(trx, stack)
    const jobs = await findJobs(trx, stack, given)
    const mistakes = new Map<string, number[]>()
    const kept: Notification[] = []
    for (const [index, item] of given.entries()) {
      const job = jobs.get(item.job_uuid?.toLowerCase() ?? '')
      const error = mistakeIn(item, job, ctx.now())
      if (error !== null) mistakes.set(error, [...(mistakes.get(error) ?? []), index])
      if (error !== null || job === undefined) continue
      job.count += 1
      kept.push({
        jobId: job.id,
        detail: item.detail ?? '',
        occurredAt: item.timestamp ? new Date(item.timestamp).toISOString() : ctx.now().toISOString(),
      })
    }
    await insertNotifications(trx, stack, kept)
    return [...mistakes].map(([error, indexes]) => ({ error, indexes }))
  })
}

export async function insertNotifications(
  trx: Trx,
  stack: Stack,
  notifications: readonly Notification[],
): Promise<void> {
  if (notifications.length === 0) return
  const rows = notifications.map((notification) => ({ id: newId(), ...notification }))
  await sql`
    insert into stack_notifications (id, organization_id, stack_id, job_id, detail, occurred_at)
    select n.id, ${stack.organizationId}, ${stack.id}, n."jobId", n.detail, n."occurredAt"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as n (id uuid, "jobId" uuid, detail text, "occurredAt" timestamptz)`.execute(trx)
}

interface NotifiedJob {
  id: string
  created_at: string
  finished_at: string | null
  /** How many messages it has. */
  count: number
}

function mistakeIn(
  { detail, timestamp }: StackNotification,
  job: NotifiedJob | undefined,
  now: Date,
): string | null {
  if (!detail) return 'detail is required'
  if (detail.length > longestDetail) return `detail exceeds its length limit of ${longestDetail}`
  if (job === undefined) return 'job not found'
  if (job.finished_at !== null && now.getTime() - Date.parse(job.finished_at) > 300_000) {
    return 'job finished more than 300 seconds ago'
  }
  if (timestamp) {
    const at = Date.parse(timestamp)
    if (Number.isNaN(at)) return 'timestamp is not an ISO 8601 time'
    if (at > now.getTime() + skewMs) return 'timestamp is in the future'
    if (at < Date.parse(job.created_at) - skewMs) return 'timestamp is before the creation of the job'
  }
  return job.count >= mostPerJob ? 'job stack notification count exceeded' : null
}

/** Serializes the requests of one stack, so that its messages are counted correctly. */
async function lockStack(trx: Trx, stack: Stack): Promise<void> {
  await sql`select from stacks where id = ${stack.id} for no key update`.execute(trx)
}

/** Until the transaction ends they are not deleted. */
async function findJobs(
  trx: Trx,
  stack: Stack,
  given: readonly StackNotification[],
): Promise<Map<string, NotifiedJob>> {
  const ids = given.flatMap(({ job_uuid }) => (job_uuid && isUuid(job_uuid) ? [job_uuid] : []))
  const { rows } = await sql<NotifiedJob>`
    select j.id, j.created_at, j.finished_at,
      (select count(*) from stack_notifications n where n.job_id = j.id) as count
    from jobs j
    where j.organization_id = ${stack.organizationId} and j.cluster_id = ${stack.clusterId}
      and j.id = any (${ids}::uuid[])
    order by j.id for key share of j`.execute(trx)
  return new Map(rows.map((job) => [job.id, job]))
}
