// Creates the builds that schedules ask for. One transaction creates the build and sets the schedule's next time, so
// each time fires once, however many processes look. All times that were missed while no process ran fire once.
import { carryOut } from '../../../conductor/act.ts'
import type { FollowUp } from '../../../conductor/advance.ts'
import type { BuildRequest } from '../../../conductor/build.ts'
import { createBuild, describeRefusal } from '../../../conductor/create-build.ts'
import type { Context } from '../../../context.ts'
import { inSavepoint, inTransaction } from '../../../db/transaction.ts'
import { eachRowApart } from '../../../db/each-row.ts'
import { nextRun, readCronline } from './cronline.ts'
import * as schedules from './queries.ts'
import type { DueSchedule } from './queries.ts'

/** The poller pauses for a second after so many, so that the builds of midnight leave time for other transactions. */
const mostAtOnce = 50

/** Fires schedules that are due, one after the other, and returns their number. */
export async function fireDueSchedules(ctx: Context): Promise<number> {
  const due = await schedules.listDue(ctx.db, {
    now: ctx.now().toISOString(),
    spreadSeconds: ctx.config.scheduleSpreadSeconds,
    limit: mostAtOnce,
  })
  let count = 0
  await eachRowApart(ctx, 'schedules', due, String, async (id) => {
    if (await fire(ctx, id)) count += 1
  })
  return count
}

/** False: another process fires it or has fired it. */
async function fire(ctx: Context, id: string): Promise<boolean> {
  let claimed: DueSchedule | undefined
  let followUps: FollowUp[] = []
  try {
    followUps = await inTransaction(ctx.db, async (trx) => {
      claimed = await schedules.claimDue(trx, id, ctx.now().toISOString())
      if (claimed === undefined) return []
      if (!claimed.owner_may_build) {
        await schedules.recordFiring(trx, claimed, afterFiring(ctx, claimed, ownerIsGone))
        return []
      }
      const { organization_id: orgId } = claimed
      const request = requestOf(claimed)
      const created = await inSavepoint(
        trx,
        () => createBuild({ ...ctx, db: trx }, orgId, request),
        ({ ok }) => ok,
      )
      const failure = created.ok ? null : describeRefusal(created)
      await schedules.recordFiring(trx, claimed, afterFiring(ctx, claimed, failure))
      return created.ok ? created.followUps : []
    })
  } catch (error) {
    if (claimed === undefined) throw error
    // A schedule that cannot be fired must not delay the others.
    ctx.log.error({ err: error, schedule_id: claimed.id }, 'A schedule could not be fired.')
    const failure = 'The build could not be made because something went wrong on our side.'
    await schedules.recordFiring(ctx.db, claimed, afterFiring(ctx, claimed, failure))
  }
  await carryOut(ctx, followUps)
  return claimed !== undefined
}

const ownerIsGone =
  'The owner of the schedule may no longer build this pipeline. Whoever edits the schedule becomes its owner.'

const requestOf = (schedule: DueSchedule): BuildRequest => ({
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

/** The next time counts from now, which leaves all missed times behind. */
function afterFiring(ctx: Context, { cronline }: DueSchedule, failure: string | null) {
  const now = ctx.now()
  const read = readCronline(cronline)
  return {
    next_build_at: read.ok ? (nextRun(read.cronline, now)?.toISOString() ?? null) : null,
    failed_message: failure,
    failed_at: failure === null ? null : now.toISOString(),
  }
}
