import type { Context } from '../context.ts'
import { hashToken } from '../lib/ids.ts'

/** Derived from the installation's keys, so that every replica that starts the container computes the same token. */
export function hostedToken({ keys }: Pick<Context, 'keys'>, hostedAgentId: string): string {
  return `mrht_${keys.sign('hosted agent', hostedAgentId).toString('hex')}`
}

export const hostedTokenHash = (ctx: Pick<Context, 'keys'>, hostedAgentId: string): Buffer =>
  hashToken(hostedToken(ctx, hostedAgentId))
