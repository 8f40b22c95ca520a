// Which addresses a URL that a user has set may lead to: public ones, and those the operator allows.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isInRanges } from './ip-ranges.ts'

/** Of all IPv6 space only this part is given out for use on the internet. */
const publicIpv6 = ipaddr.parseCIDR('2000::/3')

/** Public by number, yet a door into the machine that one runs on: Azure answers its guests there. */
const guestServices = '168.63.129.16/32'

/** `address` as a resolver gives it; `allowed` are ranges separated by spaces. */
export function mayReach(address: string, allowed: string): boolean {
  // Not what a library can make sense of, but what will be connected to without asking anybody again.
  if (isIP(address) === 0) return false
  return isInRanges(address, allowed) || isPublic(address)
}

function isPublic(text: string): boolean {
  // `process` reads an IPv4 address that is written as an IPv6 one.
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv6) return address.zoneId === undefined && address.match(publicIpv6)
  return !isInRanges(text, guestServices)
}
