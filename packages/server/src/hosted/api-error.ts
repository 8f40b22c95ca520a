import { conflict, notFound, refused, unavailable } from '../lib/errors.ts'
import { HostedInUse, HostedNotFound, HostedRefused, HostedUnavailable } from './driver.ts'

/** Translates a driver's failure for the API; returns any other error unchanged. */
export function toApiError(error: unknown, whenUnavailable: string): unknown {
  if (error instanceof HostedUnavailable) return unavailable(whenUnavailable, error)
  if (error instanceof HostedInUse) return conflict(error.message)
  if (error instanceof HostedRefused) return refused(error.message)
  if (error instanceof HostedNotFound) return notFound(error.message)
  return error
}
