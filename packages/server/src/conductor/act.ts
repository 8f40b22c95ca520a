// An event and everything that follows from it. Each follow-up is a transaction of its own, after the commit of
// what caused it. sweep.ts finds again what a dying process leaves undone, except `supersede`: the tables do not tell a
// build that should have been superseded from one that somebody retried, so such a build goes on.
import type { Context } from '../context.ts'
import { advanceBuild, type Advanced, type EventAt, type FollowUp } from './advance.ts'
import { cancelChild, createChild, tellParent } from './children.ts'
import { decideGroup } from './concurrency.ts'
import { supersede } from './supersede.ts'

export async function act(
  ctx: Context,
  organizationId: string,
  buildId: string,
  event: EventAt,
): Promise<Advanced> {
  const advanced = await advanceBuild(ctx, organizationId, buildId, event)
  if (advanced.ok) await carryOut(ctx, advanced.followUps)
  return advanced
}

/** What fails is left to the sweep: the change it follows from is committed, and whoever made it has to hear so. */
export async function carryOut(ctx: Context, followUps: readonly FollowUp[]): Promise<void> {
  if (ctx.afterCommit !== null) return ctx.afterCommit((outside) => carryOut(outside, followUps))
  const waiting = [...followUps]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    try {
      waiting.push(...(await carryOutOne(ctx, next)))
    } catch (error) {
      ctx.log.error({ err: error, follow_up: next }, 'What follows from a change failed; it is tried again.')
    }
  }
}

function carryOutOne(ctx: Context, followUp: FollowUp): Promise<FollowUp[]> {
  switch (followUp.kind) {
    case 'create_child':
      return createChild(ctx, followUp)
    case 'cancel_child':
      return cancelChild(ctx, followUp)
    case 'tell_parent':
      return tellParent(ctx, followUp)
    case 'decide_slots':
      return decideGroup(ctx, followUp.organizationId, followUp.group)
    case 'supersede':
      return supersede(ctx, followUp)
  }
}
