// Address ranges: CIDRs or single addresses, separated by spaces.
import ipaddr from 'ipaddr.js'

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** The ranges in canonical form, or the first part that is not a range. */
export function readRanges(text: string): { ok: true; ranges: string } | { ok: false; bad: string } {
  const parts = text.split(/\s+/).filter((part) => part !== '')
  for (const part of parts) {
    if (parseRange(part) === null) return { ok: false, bad: part }
  }
  return { ok: true, ranges: parts.join(' ') }
}

/** An address that cannot be parsed is in no range. */
export function isInRanges(address: string, ranges: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const ip = ipaddr.process(address)
  return parseRanges(ranges).some((range) => ip.kind() === range[0].kind() && ip.match(range))
}

// Every request checks ranges, and they hardly ever change.
const parsed = new Map<string, Range[]>()
const mostParsed = 1000

function parseRanges(text: string): Range[] {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const ranges = text.split(' ').flatMap((part) => {
    const range = parseRange(part)
    return range === null ? [] : [range]
  })
  if (parsed.size >= mostParsed) parsed.clear()
  parsed.set(text, ranges)
  return ranges
}

function parseRange(part: string): Range | null {
  if (ipaddr.isValidCIDR(part)) return ipaddr.parseCIDR(part)
  if (!ipaddr.IPv4.isValidFourPartDecimal(part) && !ipaddr.IPv6.isValid(part)) return null
  const address = ipaddr.parse(part)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
