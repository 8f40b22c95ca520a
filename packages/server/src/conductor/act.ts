// An event and its follow-ups. Each follow-up is a transaction of its own, after the commit of its cause. If the process
// dies before that, sweep.ts finds the missing follow-ups in the tables.
import type { Context } from '../context.ts'
import { advanceBuild, type Advanced, type UntimedEvent, type FollowUp } from './advance.ts'
import { cancelChild, createChild, reportToParent } from './children.ts'
import { decideGroup } from './concurrency.ts'
import { supersede } from './supersede.ts'

export async function act(
  ctx: Context,
  organizationId: string,
  buildId: string,
  event: UntimedEvent,
): Promise<Advanced> {
  const advanced = await advanceBuild(ctx, organizationId, buildId, event)
  if (advanced.ok) await carryOut(ctx, advanced.followUps)
  return advanced
}

/** Never throws: the cause is committed, and its caller must be answered so. The sweep repeats a failed follow-up. */
export async function carryOut(ctx: Context, followUps: readonly FollowUp[]): Promise<void> {
  if (ctx.afterCommit !== null) return ctx.afterCommit((outside) => carryOut(outside, followUps))
  const waiting = [...followUps]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    try {
      waiting.push(...(await carryOutOne(ctx, next)))
    } catch (error) {
      ctx.log.error({ err: error, follow_up: next }, 'A follow-up failed; the sweep repeats it.')
    }
  }
}

/** For the sweep, which remembers that it failed. */
export async function carryOutApart(ctx: Context, followUp: FollowUp): Promise<void> {
  await carryOut(ctx, await carryOutOne(ctx, followUp))
}

function carryOutOne(ctx: Context, followUp: FollowUp): Promise<FollowUp[]> {
  switch (followUp.kind) {
    case 'create_child':
      return createChild(ctx, followUp)
    case 'cancel_child':
      return cancelChild(ctx, followUp)
    case 'report_to_parent':
      return reportToParent(ctx, followUp)
    case 'decide_slots':
      return decideGroup(ctx, followUp)
    case 'supersede':
      return supersede(ctx, followUp)
  }
}
