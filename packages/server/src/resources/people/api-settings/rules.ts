import { validationFailed } from '../../../lib/errors.ts'
import { isInRanges, readRanges } from '../../../lib/ip-ranges.ts'

// Every request of the organization is compared with every range.
const mostRanges = 100

export function refuseLockout(ranges: string, ip: string): void {
  if (isInRanges(ip, ranges)) return
  throw validationFailed(
    `allowed_ip_addresses lacks your own address ${ip}, so you would be locked out; send "force": true to do it all the same`,
  )
}

/** No ranges: null. */
export function readAllowed(text: string | null): string | null {
  const read = readRanges(text ?? '')
  if (!read.ok) {
    throw validationFailed(
      `allowed_ip_addresses has "${read.bad.slice(0, 60)}", which is not an address range such as 192.0.2.0/24`,
    )
  }
  if (read.ranges.split(' ').length > mostRanges) {
    throw validationFailed(`allowed_ip_addresses must have at most ${mostRanges} ranges`)
  }
  return read.ranges || null
}
