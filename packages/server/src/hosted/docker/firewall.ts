/*
 * A firewall between containers and the engine's own machine. The names of all bridges of an installation have the same
 * prefix. Packets from such a bridge are dropped if they are for any address of the machine itself (before its ports are
 * forwarded to other containers), for a cloud's metadata service, or for another container. Open connections, DNS (port 53)
 * and the allowed addresses pass.
 *
 * A helper in the machine's network sets the rules with the machine's own iptables. They match nothing but those bridges, so
 * they have no effect once the installation is gone.
 */
import { createHash } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { isIPv4 } from 'node:net'
import { HostedUnavailable } from '../driver.ts'
import type { Engine } from './engine.ts'
import { runHelper } from './helper.ts'

const shortHash = (text: string, length: number) =>
  createHash('sha256').update(text).digest('hex').slice(0, length)

/** The kernel allows 15 characters for the name of a bridge. */
const bridgePrefix = (engine: Engine) => `mr${shortHash(engine.installationId, 6)}`
export const bridgeName = (engine: Engine, networkName: string): string =>
  bridgePrefix(engine) + shortHash(networkName, 7)

export async function applyFirewall(engine: Engine, allowed: readonly string[]): Promise<void> {
  const script = firewallScript(bridgePrefix(engine), await resolveAll(allowed))
  await runHelper(engine, 'firewall', script, [], {
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

interface Endpoint {
  address: string
  port: string
}

async function resolveAll(allowed: readonly string[]): Promise<Endpoint[]> {
  const resolved = await Promise.all(
    allowed.map(async (address) => {
      const { hostname, port } = new URL(`tcp://${address}`)
      // A name that cannot be resolved allows nothing.
      const found = isIPv4(hostname)
        ? [{ address: hostname }]
        : await lookup(hostname, { all: true, family: 4 }).catch(() => [])
      return found.map(({ address }) => ({ address, port }))
    }),
  )
  return resolved.flat()
}

/**
 * Docker isolates all its networks, Podman only those created with an option. Packets for a forwarded port have been
 * allowed earlier, which is why the rule exempts DNAT.
 */
const podmanBridges = ['podman+', 'cni-podman+']

/** The helper's script. Our networks have no IPv6, so all IPv6 packets are dropped: a container chose the address itself. */
function firewallScript(prefix: string, allowed: readonly Endpoint[]): string {
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
  // Podman 4.3 loses the isolation of a network when networks are listed, and netavark 1.4 loses all isolation rules when
  // one network is deleted.
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
