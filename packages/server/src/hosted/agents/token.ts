import type { Context } from '../../context.ts'
import { hashToken } from '../../lib/ids.ts'

/** Made from the keys of the installation, so that whoever starts the container, or starts it again, knows it. */
export function hostedToken({ keys }: Pick<Context, 'keys'>, hostedAgentId: string): string {
  return `mrht_${keys.sign('hosted agent', hostedAgentId).toString('hex')}`
}

export const hostedTokenHash = (ctx: Pick<Context, 'keys'>, hostedAgentId: string): Buffer =>
  hashToken(hostedToken(ctx, hostedAgentId))
