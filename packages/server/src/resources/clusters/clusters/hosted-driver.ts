import type { Context } from '../../../context.ts'
import { toApiError } from '../../../hosted/api-error.ts'
import type { HostedDriver } from '../../../hosted/driver.ts'
import { unavailable } from '../../../lib/errors.ts'

export const notRunning = 'The hosted-agent service is not running. Asking again is safe.'

/** Not to be used inside a transaction. `what` completes "The hosted-agent service could not …". */
export async function callDriver<T>(
  ctx: Context,
  what: string,
  work: (driver: HostedDriver) => Promise<T>,
): Promise<T> {
  if (ctx.hosted === null) throw unavailable(notRunning)
  try {
    return await work(ctx.hosted)
  } catch (error) {
    throw toApiError(error, `The hosted-agent service could not ${what}. Asking again is safe.`)
  }
}
