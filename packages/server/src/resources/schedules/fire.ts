// Makes the builds that schedules ask for. A firing is one transaction: the build, and the next time of the
// schedule; so each time fires once, whoever and how many look. Times missed while nobody looked fire once together.
import { sql } from 'kysely'
import { carryOut } from '../../conductor/act.ts'
import type { FollowUp } from '../../conductor/advance.ts'
import { createBuild, type CreatedBuild } from '../../conductor/create-build.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { nextRun, readCronline } from './cronline.ts'
import * as schedules from './queries.ts'
import type { DueSchedule } from './queries.ts'

/** Fires all that are due; how many there were. */
export async function fireDueSchedules(ctx: Context): Promise<number> {
  let count = 0
  while (await fireNext(ctx)) count += 1
  return count
}

async function fireNext(ctx: Context): Promise<boolean> {
  let claimed: DueSchedule | undefined
  let followUps: FollowUp[] = []
  try {
    followUps = await inTransaction(ctx.db, async (trx) => {
      claimed = await schedules.claimDue(trx, ctx.now().toISOString())
      if (claimed === undefined) return []
      await sql`savepoint build`.execute(trx)
      const created = claimed.owner_may_build
        ? await createBuild({ ...ctx, db: trx }, claimed.organization_id, requestOf(claimed))
        : ({ ok: false, message: ownerIsGone } as const)
      if (!created.ok) await sql`rollback to savepoint build`.execute(trx)
      await schedules.recordFiring(trx, claimed, afterFiring(ctx, claimed, failureOf(created)))
      return created.ok ? created.followUps : []
    })
  } catch (error) {
    if (claimed === undefined) throw error
    // One schedule that cannot be fired must not keep the others waiting.
    ctx.log.error({ err: error, schedule_id: claimed.id }, 'A schedule could not be fired.')
    const failure = 'The build could not be made because something went wrong on our side.'
    await schedules.recordFiring(ctx.db, claimed, afterFiring(ctx, claimed, failure))
  }
  await carryOut(ctx, followUps)
  return claimed !== undefined
}

const ownerIsGone =
  'The owner of the schedule may no longer build this pipeline. Whoever edits the schedule becomes its owner.'

const requestOf = (schedule: DueSchedule): Parameters<typeof createBuild>[2] => ({
  pipelineId: schedule.pipeline_id,
  source: 'schedule',
  creatorId: schedule.created_by,
  author: null,
  commit: schedule.commit,
  commitOrigin: 'own',
  branch: schedule.branch,
  tag: null,
  message: schedule.message ?? (schedule.label || null),
  env: schedule.env,
  metaData: {},
  pullRequest: null,
  cleanCheckout: false,
  ignoreBranchFilters: false,
  rebuiltFrom: null,
  triggeredFrom: null,
  dueAt: schedule.due_at,
})

function failureOf(created: CreatedBuild): string | null {
  if (created.ok) return null
  const details = (created.errors ?? []).map(({ field, code }) => `${field} ${code}`)
  return details.length === 0 ? created.message : `${created.message}: ${details.join('; ')}`
}

/** The next time counts from now, so that all that were missed are behind it. */
function afterFiring(ctx: Context, { cronline }: DueSchedule, failure: string | null) {
  const now = ctx.now()
  const read = readCronline(cronline)
  return {
    next_build_at: read.ok ? (nextRun(read.cronline, now)?.toISOString() ?? null) : null,
    failed_message: failure,
    failed_at: failure === null ? null : now.toISOString(),
  }
}
