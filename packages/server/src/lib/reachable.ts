// Finds an address of a host that may be connected to, for programs that connect by themselves.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { mayReach } from './outbound-addresses.ts'

export type Resolve = (hostname: string) => Promise<string[]>

export const resolveName: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address)

/** null: there is none. `allow`: ranges that may be reached although they are not public, separated by spaces. */
export async function findReachable(
  hostname: string,
  allow: string,
  resolve: Resolve = resolveName,
): Promise<string | null> {
  const found = isIP(hostname) === 0 ? await resolve(hostname).catch(() => []) : [hostname]
  return found.find((address) => mayReach(address, allow)) ?? null
}

export const unreachable = (hostname: string) =>
  `${hostname} does not lead to a public address. The operator can allow it with MILLRACE_OUTBOUND_ALLOW.`
