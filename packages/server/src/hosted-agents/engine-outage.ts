import type { Context } from '../context.ts'
import { HostedUnavailable } from '../hosted/driver.ts'

const unreachable = new WeakSet<Context>()

export const isEngineAway = (error: unknown): boolean => error instanceof HostedUnavailable

/** For pollers: logs once that the engine is unreachable, and once that it answers again. */
export const logEngineOutage =
  (work: (ctx: Context) => Promise<void>) =>
  async (ctx: Context): Promise<void> => {
    try {
      await work(ctx)
      if (unreachable.delete(ctx)) ctx.log.info('The container engine of hosted clusters answers again.')
    } catch (error) {
      if (!(error instanceof HostedUnavailable)) throw error
      if (unreachable.has(ctx)) return
      unreachable.add(ctx)
      ctx.log.warn(
        `The container engine of hosted clusters cannot be reached (${error.message}). Hosted jobs wait until it answers; MILLRACE_HOSTED says where it is.`,
      )
    }
  }
