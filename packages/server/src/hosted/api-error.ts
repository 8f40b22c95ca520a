import { conflict, notFound, refused, unavailable } from '../lib/errors.ts'
import { HostedInUse, HostedNotFound, HostedRefused, HostedUnavailable } from './driver.ts'

/** What a driver's failure is to the caller of the API; any other error stays what it is. */
export function toApiError(error: unknown, whenUnavailable: string): unknown {
  if (error instanceof HostedUnavailable) return unavailable(whenUnavailable, error)
  if (error instanceof HostedInUse) return conflict(error.message)
  if (error instanceof HostedRefused) return refused(error.message)
  if (error instanceof HostedNotFound) return notFound(error.message)
  return error
}
