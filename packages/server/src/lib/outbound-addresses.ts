// The addresses that user-defined URLs may lead to: public ones, and those that the operator allows.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isInRanges } from './ip-ranges.ts'

/** The only part of IPv6 that is allocated for the internet. */
const publicIpv6 = ipaddr.parseCIDR('2000::/3')

/** A public address at which Azure serves metadata to its own virtual machines. */
const guestServices = '168.63.129.16/32'

/** `address`: as a resolver returns it. `allowed`: ranges separated by spaces. */
export function mayReach(address: string, allowed: string): boolean {
  // Only what Node connects to without resolving it again, which is less than ipaddr.js can parse.
  if (isIP(address) === 0) return false
  return isInRanges(address, allowed) || isPublic(address)
}

function isPublic(text: string): boolean {
  // `process` converts IPv4-mapped IPv6 addresses.
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv6) return address.zoneId === undefined && address.match(publicIpv6)
  return !isInRanges(text, guestServices)
}
