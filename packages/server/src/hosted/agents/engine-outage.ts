import type { Context } from '../../context.ts'
import { HostedUnavailable } from '../driver.ts'

/** Contexts whose engine did not answer when it was last asked. */
const away = new WeakSet<Context>()

/** For rounds: says once that the engine is away and once that it is back; until then each round tries again. */
export const whileReachable =
  (work: (ctx: Context) => Promise<void>) =>
  async (ctx: Context): Promise<void> => {
    try {
      await work(ctx)
      if (away.delete(ctx)) ctx.log.info('The container engine of hosted clusters answers again.')
    } catch (error) {
      if (!(error instanceof HostedUnavailable)) throw error
      if (away.has(ctx)) return
      away.add(ctx)
      ctx.log.warn(
        `The container engine of hosted clusters cannot be reached (${error.message}). Hosted jobs wait until it answers; MILLRACE_HOSTED says where it is.`,
      )
    }
  }
