import type { Context } from '../context.ts'
import { HostedUnavailable } from '../hosted/driver.ts'

/** For rounds: an engine that is away for a while is worth a line in the log, and the next round tries again. */
export const whileReachable =
  (work: (ctx: Context) => Promise<void>) =>
  async (ctx: Context): Promise<void> => {
    try {
      await work(ctx)
    } catch (error) {
      if (!(error instanceof HostedUnavailable)) throw error
      ctx.log.warn({ err: error }, 'The engine of hosted clusters is not reached.')
    }
  }
