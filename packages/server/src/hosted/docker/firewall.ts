/*
 * Keeps containers away from the engine's own machine. Every network of an installation has a bridge whose name begins
 * alike; whatever comes from such a bridge and is meant for the machine itself, by any of its addresses and before any
 * port is passed on to somebody else's container, is dropped, and so is what is meant for a cloud's metadata service or
 * for another container, of ours or of somebody else.
 * Open connections, names (port 53) and the places that are allowed pass.
 *
 * The rules are set by a helper in the machine's network, with the machine's own iptables. They name nothing but those
 * bridges, so what is left of them when an installation is gone does nothing.
 */
import { createHash } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { isIPv4 } from 'node:net'
import type { Engine } from './engine.ts'
import { runHelper } from './helper.ts'
import { HostedUnavailable } from '../driver.ts'

/** `host:port`, reached although it is on the engine's machine. */
export type AllowedPlaces = readonly string[]

const shortHash = (text: string, length: number) =>
  createHash('sha256').update(text).digest('hex').slice(0, length)

/** The kernel allows 15 characters for the name of a bridge. */
const bridgePrefix = (engine: Engine) => `mr${shortHash(engine.installationId, 6)}`
export const bridgeName = (engine: Engine, networkName: string): string =>
  bridgePrefix(engine) + shortHash(networkName, 7)

export async function setFence(engine: Engine, image: string, allowed: AllowedPlaces): Promise<void> {
  const rules = fenceRules(bridgePrefix(engine), await addressesOf(allowed))
  await runHelper(engine, image, 'fence', rules, [], {
    NetworkMode: 'host',
    CapAdd: ['NET_ADMIN', 'NET_RAW'],
    SecurityOpt: ['label=disable'],
    Binds: ['/:/machine:ro', '/run:/machine/run'],
  }).catch((error: unknown) => {
    if (!(error instanceof HostedUnavailable)) throw error
    const wayOut =
      'The engine’s machine needs iptables, and the base image chroot; MILLRACE_HOSTED_ALLOW=* does without a fence.'
    throw new HostedUnavailable(
      `Containers could not be kept away from the engine's machine: ${error.message} ${wayOut}`,
      { cause: error },
    )
  })
}

interface Place {
  address: string
  port: string
}

async function addressesOf(allowed: AllowedPlaces): Promise<Place[]> {
  const places = await Promise.all(
    allowed.map(async (place) => {
      const { hostname, port } = new URL(`tcp://${place}`)
      // A name that means nothing here allows nothing.
      const found = isIPv4(hostname)
        ? [{ address: hostname }]
        : await lookup(hostname, { all: true, family: 4 }).catch(() => [])
      return found.map(({ address }) => ({ address, port }))
    }),
  )
  return places.flat()
}

/**
 * Docker lets nobody into its networks; Podman keeps only those apart that were made so. What comes by a port that is
 * passed on has been allowed before it got here.
 */
const podmanBridges = ['podman+', 'cni-podman+']

/** The script of the helper. Networks of ours have no IPv6, so whatever comes that way came by an own address. */
export function fenceRules(prefix: string, allowed: readonly Place[]): string {
  const chain = prefix.toUpperCase()
  const rules = [
    '-m conntrack --ctstate ESTABLISHED,RELATED -j RETURN',
    ...allowed.map(({ address, port }) => `-d ${address} -p tcp --dport ${port} -j RETURN`),
    '-p udp --dport 53 -j RETURN',
    '-p tcp --dport 53 -j RETURN',
    ...['LOCAL', 'BROADCAST', 'MULTICAST'].map((type) => `-m addrtype --dst-type ${type} -j DROP`),
    '-d 169.254.0.0/16 -j DROP',
    '-d 100.100.100.200 -j DROP',
  ]
  const restore = ['*mangle', `:${chain} - [0:0]`, ...rules.map((rule) => `-A ${chain} ${rule}`), 'COMMIT']
  const ensure = (program: string, rule: string) =>
    `$in ${program} -w -t mangle -C ${rule} 2>/dev/null || $in ${program} -w -t mangle -I ${rule}`
  const fromOurs = `PREROUTING -i ${prefix}+`
  const neighbours = podmanBridges.map((bridge) =>
    ensure('iptables', `FORWARD -i ${prefix}+ -o ${bridge} -m conntrack ! --ctstate DNAT -j DROP`),
  )
  // Podman 4.3 forgets that a network of ours is to be kept apart when networks are listed, and netavark 1.4 the rules for
  // all of them when one goes.
  const eachOther = ensure('iptables', `FORWARD -i ${prefix}+ -o ${prefix}+ -j DROP`)
  return `set -e
in="chroot /machine /usr/bin/env PATH=/usr/sbin:/sbin:/usr/bin:/bin"
$in iptables-restore -w --noflush <<'RULES'
${restore.join('\n')}
RULES
${[ensure('iptables', `${fromOurs} -j ${chain}`), ...neighbours, eachOther].join('\n')}
if test -d /proc/sys/net/ipv6; then
${ensure('ip6tables', `${fromOurs} -j DROP`)}
fi`
}
