// Ensures that the network policy exists and is enforced before any pod of a job or a build is created.
import { HostedUnavailable } from '../driver.ts'
import type { Cluster } from './cluster.ts'
import { ensurePolicy } from './network-policy.ts'
import { isPolicyEnforced } from './policy-probe.ts'

interface NetworkIsolation {
  /** Throws if pods would not be isolated. */
  ensure(): Promise<void>
  /** Makes the next `ensure` check again, since the policy or the network may have changed. */
  recheck(): void
}

const notEnforced =
  'The network of the Kubernetes cluster ignores network policies, so jobs could reach each other and the cluster. ' +
  'Install a network plugin that enforces them, such as Cilium or Calico, or accept that with MILLRACE_HOSTED_OPEN_NETWORK=on.'

type Result = 'isolated' | 'open' | 'unknown'

export function openNetworkIsolation(cluster: Cluster): NetworkIsolation {
  const { runner, isNetworkOpen, warn } = cluster.settings
  let hasPolicy = false
  let checked: Promise<Result> | null = null
  const check = async (): Promise<Result> => {
    // The probe needs the runner's Node.
    if (runner === null || isNetworkOpen) return 'isolated'
    try {
      return (await isPolicyEnforced(cluster, runner)) ? 'isolated' : 'open'
    } catch (error) {
      // A failed check, say for lack of room, proves nothing about the network, so jobs may run.
      warn(error, 'Whether the network of the Kubernetes cluster enforces policies could not be seen.')
      return 'unknown'
    }
  }
  return {
    async ensure() {
      if (!hasPolicy) await ensurePolicy(cluster)
      hasPolicy = true
      if ((await (checked ??= check())) === 'open') throw new HostedUnavailable(notEnforced)
    },
    recheck() {
      hasPolicy = false
      void checked?.then((result) => {
        if (result !== 'isolated') checked = null
      })
    },
  }
}
