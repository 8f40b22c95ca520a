import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context, RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import * as pipelines from '../pipelines/queries.ts'
import { readEnv } from '../pipelines/rules.ts'
import { nextRun, readCronline } from './cronline.ts'
import * as schedules from './queries.ts'
import type { CreateScheduleBody, UpdateScheduleBody } from './schema.ts'

// Variables may hold secrets.
const audited = ['label', 'cronline', 'message', 'commit', 'branch', 'enabled'] as const

export async function createSchedule(
  { ctx, org, caller }: RequestContext,
  pipelineSlug: string,
  body: CreateScheduleBody,
): Promise<schedules.ScheduleRow> {
  const fields = mergeFields(ctx, { ...blank, cronline: '', enabled: false }, { enabled: true, ...body })
  const id = newId()
  return inTransaction(ctx.db, async (trx) => {
    const pipeline = await pipelines.findIdBySlug(trx, org.id, pipelineSlug)
    if (pipeline === undefined || !(await pipelines.holdInOrg(trx, org.id, pipeline.id))) {
      throw notFound('No pipeline found')
    }
    const row = { id, organization_id: org.id, pipeline_id: pipeline.id, created_by: caller.user.id }
    await schedules.insert(trx, { ...row, ...fields })
    const data = Object.fromEntries(audited.map((key) => [key, fields[key]]))
    await audit(trx, org, caller, 'PIPELINE_SCHEDULE_CREATED', { id, ...fields }, data)
    const schedule = await schedules.findInPipeline(trx, org.id, pipelineSlug, id)
    if (schedule === undefined) throw notFound('No pipeline found')
    return schedule
  })
}

export async function updateSchedule(
  { ctx, org, caller }: RequestContext,
  { pipeline, schedule: id }: { pipeline: string; schedule: string },
  body: UpdateScheduleBody,
): Promise<schedules.ScheduleRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await schedules.lockInPipeline(trx, org.id, pipeline, id)
    if (before === undefined) throw notFound('No schedule found')
    // Builds run with the owner's rights, so the last person to change the schedule becomes its owner.
    await schedules.updateInOrg(trx, org.id, id, {
      ...mergeFields(ctx, before, body),
      created_by: caller.user.id,
    })
    const after = await schedules.findInPipeline(trx, org.id, pipeline, id)
    if (after === undefined) throw notFound('No schedule found')
    await audit(
      trx,
      org,
      caller,
      'PIPELINE_SCHEDULE_UPDATED',
      after,
      changedAttributes(withOwner(before), withOwner(after), [...audited, 'owner_id']),
    )
    return after
  })
}

const withOwner = (schedule: schedules.ScheduleRow) => ({
  ...schedule,
  owner_id: schedule.created_by?.id ?? null,
})

export async function deleteSchedule(
  { ctx, org, caller }: RequestContext,
  { pipeline, schedule: id }: { pipeline: string; schedule: string },
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const schedule = await schedules.lockInPipeline(trx, org.id, pipeline, id)
    if (schedule === undefined) throw notFound('No schedule found')
    await schedules.deleteInOrg(trx, org.id, id)
    await audit(trx, org, caller, 'PIPELINE_SCHEDULE_DELETED', schedule, {})
  })
}

const blank: Omit<schedules.ScheduleFields, 'cronline' | 'enabled'> = {
  label: '',
  message: null,
  commit: 'HEAD',
  branch: null,
  env: {},
  next_build_at: null,
  failed_message: null,
  failed_at: null,
}

/** The new fields of a schedule. Enabling it computes the next time from now and clears the last failure. */
function mergeFields(
  ctx: Context,
  before: schedules.ScheduleFields,
  body: UpdateScheduleBody,
): schedules.ScheduleFields {
  const { label, message, commit, branch, env } = body
  const cronline = body.cronline ?? before.cronline
  const enabled = body.enabled ?? before.enabled
  const isTurnedOn = enabled && !before.enabled
  const read = readCronline(cronline)
  if (!read.ok) throw validationFailed(`cronline ${read.reason}`)
  const startsAnew = isTurnedOn || cronline !== before.cronline
  const next = startsAnew ? (nextRun(read.cronline, ctx.now())?.toISOString() ?? null) : before.next_build_at
  return {
    label: label === undefined ? before.label : (label ?? ''),
    cronline,
    message: message === undefined ? before.message : message || null,
    commit: commit === undefined ? before.commit : commit || 'HEAD',
    branch: branch === undefined ? before.branch : branch || null,
    env: env === undefined ? before.env : readEnv(env),
    enabled,
    next_build_at: enabled ? next : null,
    failed_message: isTurnedOn ? null : before.failed_message,
    failed_at: isTurnedOn ? null : before.failed_at,
  }
}

async function audit(
  trx: Trx,
  org: Organization,
  caller: Caller,
  type: AuditType,
  { id, label, cronline }: { id: string; label: string; cronline: string },
  data: Record<string, unknown>,
): Promise<void> {
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type,
    subject: { type: 'PipelineSchedule', uuid: id, name: label || cronline },
    data,
  })
}
