import { validationFailed } from '../../../lib/errors.ts'
import { readRanges } from '../../../lib/ip-ranges.ts'
import type { ClusterTokenFields } from './queries.ts'
import type { UpdateClusterTokenBody } from './schema.ts'

const anyAddress = '0.0.0.0/0 ::/0'

/** The fields that a body sets, as columns. No ranges: any address. No time: the token never expires. */
export function readFields(body: UpdateClusterTokenBody): Partial<ClusterTokenFields> {
  return {
    ...(body.description === undefined ? {} : { description: body.description }),
    ...(body.allowed_ip_addresses === undefined
      ? {}
      : { allowed_ip_addresses: readAddresses(body.allowed_ip_addresses ?? '') }),
    ...(body.expires_at === undefined ? {} : { expires_at: readExpiry(body.expires_at ?? '') }),
  }
}

/** The fields of a new token, with defaults. */
export function readNewFields(
  body: UpdateClusterTokenBody & { description: string },
  now: Date,
): ClusterTokenFields {
  const fields = { allowed_ip_addresses: anyAddress, expires_at: null, ...readFields(body) }
  if (fields.expires_at !== null && fields.expires_at <= now.toISOString()) {
    throw validationFailed('expires_at must be in the future')
  }
  return { ...fields, description: body.description }
}

function readAddresses(text: string): string {
  const read = readRanges(text)
  if (!read.ok) {
    throw validationFailed(
      `allowed_ip_addresses has "${read.bad.slice(0, 60)}", which is not an address range`,
    )
  }
  return read.ranges || anyAddress
}

const isoTime = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/i

function readExpiry(text: string): string | null {
  if (text === '') return null
  const day = isoTime.exec(text)?.[1]
  const time = new Date(text.replace(',', '.'))
  // Date reads February 30 as March 1 or 2, so compare the day.
  const isReal =
    day !== undefined && !Number.isNaN(time.getTime()) && new Date(day).toISOString().startsWith(day)
  if (!isReal) throw validationFailed('expires_at must be an ISO 8601 time, such as 2030-01-02T03:04:05Z')
  return time.toISOString()
}
