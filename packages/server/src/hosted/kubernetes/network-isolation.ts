// No pod of a job or a build is made before what keeps it from others is there, and is known to work.
import type { Runner } from '../docker/runner-volume.ts'
import { HostedUnavailable } from '../driver.ts'
import type { Cluster } from './cluster.ts'
import { isEnforced } from './policy-probe.ts'
import { ensurePolicy } from './network-policy.ts'
import { ensureRunner } from './runner-image.ts'
import type { Registry } from '../registry/registry.ts'

export interface Guard {
  /** Throws where a pod would not be kept from others. */
  pass(): Promise<void>
  /** The policy may have been changed, and the network mended. */
  lookAgain(): void
}

export interface GuardSettings {
  registry: Registry
  /** null: only what a policy is, and not what it does, can be seen to. */
  runner: Runner | null
  registrySecret: string | null
  outboundAllow: readonly string[]
  isNetworkOpen: boolean
  warn(error: unknown, message: string): void
}

const unfenced =
  'The network of the Kubernetes cluster ignores network policies, so jobs could reach each other and the cluster. ' +
  'Install a network plugin that enforces them, such as Cilium or Calico, or accept that with MILLRACE_HOSTED_OPEN_NETWORK=on.'

export function openGuard(cluster: Cluster, settings: GuardSettings): Guard {
  const { registry, runner, registrySecret, outboundAllow, isNetworkOpen, warn } = settings
  let isPolicyThere = false
  let looked: Promise<Finding> | null = null
  const look = async (): Promise<Finding> => {
    if (runner === null || isNetworkOpen) return 'kept'
    try {
      const runnerImage = await ensureRunner(cluster, registry, runner)
      return (await isEnforced(cluster, { runner, runnerImage, registrySecret })) ? 'kept' : 'open'
    } catch (error) {
      // Nothing speaks against the network: a cluster without room, say, is no reason to keep jobs from it.
      warn(error, 'Whether the network of the Kubernetes cluster enforces policies could not be seen.')
      return 'unknown'
    }
  }
  return {
    async pass() {
      if (!isPolicyThere) await ensurePolicy(cluster, outboundAllow)
      isPolicyThere = true
      if ((await (looked ??= look())) === 'open') throw new HostedUnavailable(unfenced)
    },
    lookAgain() {
      isPolicyThere = false
      void looked?.then((finding) => {
        if (finding !== 'kept') looked = null
      })
    },
  }
}

type Finding = 'kept' | 'open' | 'unknown'
