// Whether the cluster's network does what its policies say. Many plugins take a policy and ignore it, and nothing in
// the API tells. So two pods that the policy is about are made: one listens, and the other must not reach it.
import { randomUUID } from 'node:crypto'
import type { V1Pod } from '@kubernetes/client-node'
import type { Runner } from '../docker/runner-volume.ts'
import { HostedUnavailable } from '../driver.ts'
import { find, labels, ours, poll, unlessGone, type Cluster } from './cluster.ts'
import { isolated, securityContext } from './pod-spec.ts'
import { whyFailed } from './pod-status.ts'

export interface EnforcementSettings {
  runner: Runner
  /** What has the runner's Node. */
  runnerImage: string
  registrySecret: string | null
}

/** What a plugin may need until a new pod's policy is in force. */
const graceSeconds = 15
/** For each of the two pods, with the pull of their image. */
const startSeconds = 60
const port = 8000
const probeContainer = 'probe'

const listens = 'The probe listens.'
const listenScript = `require('node:net').createServer().listen(${port}, () => console.log('${listens}'))`

/** Ends with 0 as soon as it is kept from the address, and with 3 if it is not in all that time. */
const connectScript = (address: string) => `
const end = Date.now() + ${graceSeconds * 1000}
const attempt = () => {
  const socket = require('node:net').connect({ host: '${address}', port: ${port}, timeout: 2000 })
  const isKept = () => process.exit(0)
  socket.on('timeout', isKept).on('error', isKept).on('connect', () => {
    socket.destroy()
    if (Date.now() > end) process.exit(3)
    setTimeout(attempt, 250)
  })
}
attempt()`

export async function isEnforced(cluster: Cluster, settings: EnforcementSettings): Promise<boolean> {
  await removeProbes(cluster)
  const names: string[] = []
  const run = async (script: string) => {
    const name = `millrace-probe-${randomUUID()}`
    names.push(name)
    const body = describeProbe(cluster, settings, name, script)
    const { namespace } = cluster
    await cluster.ask((options) => cluster.core.createNamespacedPod({ namespace, body }, options))
    return name
  }
  try {
    const listening = await run(listenScript)
    const address = await until(cluster, listening, async ({ status }) =>
      status?.phase === 'Running' ? status.podIP : undefined,
    )
    // Else it would be taken for kept, and was only too early.
    await until(cluster, listening, async () =>
      (await readLog(cluster, listening)).includes(listens) ? true : undefined,
    )
    const connecting = await run(connectScript(address))
    const exitCode = await until(
      cluster,
      connecting,
      async ({ status }) => status?.containerStatuses?.[0]?.state?.terminated?.exitCode,
    )
    if (exitCode !== 0 && exitCode !== 3) throw new HostedUnavailable(`The probe ended with ${exitCode}.`)
    return exitCode === 0
  } finally {
    await Promise.all(names.map((name) => removeProbe(cluster, name).catch(() => {})))
  }
}

async function until<T>(
  cluster: Cluster,
  name: string,
  look: (pod: V1Pod) => Promise<T | undefined>,
): Promise<T> {
  const { namespace } = cluster
  const answer = await poll(startSeconds + graceSeconds, async () => {
    const pod = await find(cluster, (options) => cluster.core.readNamespacedPod({ namespace, name }, options))
    if (pod === null) throw new HostedUnavailable(`The pod ${name} was removed.`)
    const found = await look(pod)
    if (found === undefined && pod.status?.phase === 'Failed') throw new HostedUnavailable(whyFailed(pod))
    return found
  })
  if (answer === null) throw new HostedUnavailable(`The pod ${name} did not start.`)
  return answer
}

async function readLog(cluster: Cluster, name: string): Promise<string> {
  const request = { namespace: cluster.namespace, name, container: probeContainer }
  const log = await cluster.ask((options) => cluster.core.readNamespacedPodLog(request, options))
  // The client makes nothing of an empty answer.
  return log ?? ''
}

function describeProbe(
  cluster: Cluster,
  { runner, runnerImage, registrySecret }: EnforcementSettings,
  name: string,
  script: string,
): V1Pod {
  return {
    metadata: { name, labels: labels(cluster, 'probe', '', '') },
    spec: {
      ...isolated,
      ...(registrySecret === null ? {} : { imagePullSecrets: [{ name: registrySecret }] }),
      activeDeadlineSeconds: 2 * startSeconds + graceSeconds,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: probeContainer,
          image: runnerImage,
          command: [...runner.node, '-e', script],
          securityContext,
          resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '1', memory: '256Mi' } },
        },
      ],
    },
  }
}

/** What a process that died has left, once its deadline has ended it. */
async function removeProbes(cluster: Cluster): Promise<void> {
  const request = { namespace: cluster.namespace, labelSelector: ours(cluster, 'probe') }
  const { items } = await cluster.ask((options) => cluster.core.listNamespacedPod(request, options))
  for (const { metadata, status } of items) {
    const isOver = ['Succeeded', 'Failed'].includes(status?.phase ?? '')
    if (isOver) await removeProbe(cluster, metadata?.name ?? '')
  }
}

const removeProbe = (cluster: Cluster, name: string): Promise<void> =>
  cluster
    .ask((options) =>
      cluster.core.deleteNamespacedPod(
        { namespace: cluster.namespace, name, gracePeriodSeconds: 0 },
        options,
      ),
    )
    .then(() => {}, unlessGone)
