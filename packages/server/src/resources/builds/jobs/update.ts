// Cancels, retries, unblocks and reprioritizes one job. The conductor changes the state; the caller and the audit event are
// recorded in the same transaction.
import type { Refusal } from '@millrace/engine/advance/refusal.ts'
import { byCaller, recordAudit, type AuditEntry } from '../../../audit/record.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { carryOut } from '../../../conductor/act.ts'
import { advanceIn, type UntimedEvent } from '../../../conductor/advance.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { badRequest, forbidden, refused, type ApiError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import type { JobAddress } from '../../addresses/jobs.ts'
import * as jobs from './queries.ts'
import { cancelRefused, mayUnblock, retryRefused, unblockRefused } from './rules.ts'
import type { UnblockBody } from './schema.ts'

export async function cancelJob({ ctx, org, caller }: RequestContext, job: JobAddress): Promise<void> {
  const audit = { type: 'JOB_CANCELED' as const }
  await applyEvent({ ctx, org, caller }, job, {
    event: { type: 'cancel_job', jobId: job.id },
    refuse: cancelRefused,
    audit,
  })
}

/** Returns the id of the new job. */
export async function retryJob({ ctx, org, caller }: RequestContext, job: JobAddress): Promise<string> {
  const parentCanceled = await jobs.isParentCanceled(ctx.db, org.id, job.build_id)
  const isAllowed = await jobs.mayRetryByHand(ctx.db, org.id, job.id)
  const newJobs = await applyEvent({ ctx, org, caller }, job, {
    event: { type: 'retry', jobId: job.id, parentCanceled },
    refuse: (refusal) => retryRefused(refusal, { parentCanceled, isAllowed }),
    audit: { type: 'JOB_RETRIED' },
    also: (trx) => jobs.setRetriedBy(trx, org.id, job.id, caller),
  })
  const [newJob] = newJobs
  if (newJob === undefined) throw new Error('A retry made no job.')
  return newJob
}

export async function unblockJob(
  { ctx, org, caller }: RequestContext,
  job: JobAddress,
  body: UnblockBody,
): Promise<void> {
  if (job.kind !== 'manual') throw badRequest('This job type cannot be unblocked')
  const teams = await jobs.findAllowedTeams(ctx.db, org, job.id, caller)
  if (!mayUnblock(job, teams)) {
    throw forbidden(
      teams.is_limited ? 'Only members of the teams that the step names may unblock it' : undefined,
    )
  }
  const by = body.unblocker?.toLowerCase() || caller.user.id
  if (by !== caller.user.id && org.role !== 'admin') {
    throw forbidden('Only an administrator may name another person as the unblocker')
  }
  if (!isUuid(by) || !(await jobs.isMember(ctx.db, org.id, by))) {
    throw refused('Unblocker is not a valid user id for this organization')
  }
  await applyEvent({ ctx, org, caller }, job, {
    event: { type: 'unblock', jobId: job.id, answers: body.fields ?? {}, by },
    refuse: unblockRefused,
    audit: { type: 'JOB_UNBLOCKED', data: { unblocker_id: by } },
  })
}

export async function reprioritizeJob(
  { ctx, org, caller }: RequestContext,
  job: JobAddress,
  priority: number,
): Promise<void> {
  if (job.kind !== 'script') throw refused('Only command jobs have a priority')
  await inTransaction(ctx.db, async (trx) => {
    if (!(await jobs.setPriority(trx, org.id, job.id, priority))) {
      throw refused('Only jobs that no agent has taken yet can be reprioritized')
    }
    await record(trx, org, caller, job, { type: 'JOB_REPRIORITIZED', data: { priority } })
  })
}

interface JobAction {
  event: UntimedEvent
  refuse: (refusal: Refusal) => ApiError
  audit: Pick<AuditEntry, 'type' | 'data'>
  also?: (trx: Trx) => Promise<void>
}

async function applyEvent(
  { ctx, org, caller }: RequestContext,
  job: JobAddress,
  { event, refuse, audit, also }: JobAction,
): Promise<string[]> {
  const advanced = await inTransaction(ctx.db, async (trx) => {
    const outcome = await advanceIn(trx, ctx, org.id, job.build_id, event)
    if (!outcome.ok) throw refuse(outcome)
    await also?.(trx)
    await record(trx, org, caller, job, audit)
    return outcome
  })
  await carryOut(ctx, advanced.followUps)
  return advanced.newJobs
}

const record = (
  trx: Trx,
  org: Organization,
  caller: Caller,
  job: JobAddress,
  { type, data }: Pick<AuditEntry, 'type' | 'data'>,
): Promise<void> =>
  recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type,
    subject: { type: 'Job', uuid: job.id, name: null },
    data: { build_id: job.build_id, ...data },
  })
