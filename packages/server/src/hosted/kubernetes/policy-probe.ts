// Checks whether the cluster's network enforces policies. Many network plugins accept a policy and ignore it, and the API does
// not show it. So two pods under the policy are created: one listens, and the other must not reach it.
import { randomUUID } from 'node:crypto'
import type { V1Pod } from '@kubernetes/client-node'
import { HostedUnavailable, type Runner } from '../driver.ts'
import { labels } from '../labels.ts'
import { poll, type Cluster } from './cluster.ts'
import { isolated, pullSecrets, securityContext } from './pod-spec.ts'
import { whyFailed } from './pod-status.ts'
import { ensureRunner } from './runner-image.ts'
import { deletePod, findPod, listPods, readPodLog } from './pods.ts'

/** How long a plugin may need to apply the policy to a new pod. */
const graceSeconds = 15
/** For each of the two pods, including the pull of their image. */
const startSeconds = 60
const port = 8000
const probeContainer = 'probe'

const listening = 'The probe listens.'
const listenScript = `require('node:net').createServer().listen(${port}, () => console.log('${listening}'))`

/** Exits with 0 once it cannot connect, and with 3 if it still can after the grace period. */
const connectScript = (address: string) => `
const end = Date.now() + ${graceSeconds * 1000}
const attempt = () => {
  const socket = require('node:net').connect({ host: '${address}', port: ${port}, timeout: 2000 })
  const isBlocked = () => process.exit(0)
  socket.on('timeout', isBlocked).on('error', isBlocked).on('connect', () => {
    socket.destroy()
    if (Date.now() > end) process.exit(3)
    setTimeout(attempt, 250)
  })
}
attempt()`

export async function isPolicyEnforced(cluster: Cluster, runner: Runner): Promise<boolean> {
  const image = await ensureRunner(cluster, runner)
  await deleteOldProbes(cluster)
  const names: string[] = []
  const run = async (script: string) => {
    const name = `millrace-probe-${randomUUID()}`
    names.push(name)
    const body = describeProbe(cluster, { name, image, command: [...runner.node, '-e', script] })
    const { namespace } = cluster
    await cluster.ask((options) => cluster.core.createNamespacedPod({ namespace, body }, options))
    return name
  }
  try {
    const listener = await run(listenScript)
    const address = await until(cluster, listener, async ({ status }) =>
      status?.phase === 'Running' ? status.podIP : undefined,
    )
    // A connection attempt before it listens would fail and look like an enforced policy.
    await until(cluster, listener, async () => {
      const log = await readPodLog(cluster, { name: listener, container: probeContainer })
      return log.includes(listening) ? true : undefined
    })
    const connector = await run(connectScript(address))
    const exitCode = await until(
      cluster,
      connector,
      async ({ status }) => status?.containerStatuses?.[0]?.state?.terminated?.exitCode,
    )
    if (exitCode !== 0 && exitCode !== 3) throw new HostedUnavailable(`The probe ended with ${exitCode}.`)
    return exitCode === 0
  } finally {
    await Promise.all(names.map((name) => deletePod(cluster, name, 0).catch(() => {})))
  }
}

async function until<T>(
  cluster: Cluster,
  name: string,
  look: (pod: V1Pod) => Promise<T | undefined>,
): Promise<T> {
  const answer = await poll(startSeconds + graceSeconds, async () => {
    const pod = await findPod(cluster, name)
    if (pod === null) throw new HostedUnavailable(`The pod ${name} was removed.`)
    const found = await look(pod)
    if (found === undefined && pod.status?.phase === 'Failed') throw new HostedUnavailable(whyFailed(pod))
    return found
  })
  if (answer === null) throw new HostedUnavailable(`The pod ${name} did not start.`)
  return answer
}

function describeProbe(
  cluster: Cluster,
  { name, image, command }: { name: string; image: string; command: string[] },
): V1Pod {
  return {
    metadata: { name, labels: labels(cluster, 'probe', '', '') },
    spec: {
      ...isolated,
      ...pullSecrets(cluster),
      activeDeadlineSeconds: 2 * startSeconds + graceSeconds,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: probeContainer,
          image,
          command,
          securityContext,
          resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '1', memory: '256Mi' } },
        },
      ],
    },
  }
}

/** Deletes the probes of processes that died, once their deadline has ended them. */
async function deleteOldProbes(cluster: Cluster): Promise<void> {
  for (const { metadata, status } of await listPods(cluster, 'probe')) {
    const isOver = ['Succeeded', 'Failed'].includes(status?.phase ?? '')
    if (isOver) await deletePod(cluster, metadata?.name ?? '', 0)
  }
}
