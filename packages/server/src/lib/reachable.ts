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

/**
 * Names the address only if the caller did, so that users learn nothing about the operator's network. Operators find it on the
 * server's machine.
 */
export function unreachable(hostname: string): string {
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  // A name that a shell would read as more than a name is part of no command.
  const source = /^[\w.-]+$/.test(hostname) ? `that "getent hosts ${hostname}" prints` : 'of the name'
  const value = isIP(address) === 0 ? `ADDRESS, with the address ${source} on the server` : address
  return `${hostname} does not lead to a public address. The operator can allow it with MILLRACE_OUTBOUND_ALLOW=${value}; several are separated by spaces.`
}
