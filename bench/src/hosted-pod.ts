// The time that Kubernetes takes to run an image: one pod, whose command prints the time.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'

/** Uses the account of KUBECONFIG. Returns the output of the command and the time of the request. */
export async function runPod(
  namespace: string,
  image: string,
  command: string[],
): Promise<{ begun: number; output: string }> {
  const config = new KubeConfig()
  config.loadFromDefault()
  const core = config.makeApiClient(CoreV1Api)
  const name = `millrace-bench-${randomUUID()}`
  // Requests little, so that it never waits for the resources of a job that has just ended.
  const resources = { limits: { cpu: '2', memory: '4Gi' }, requests: { cpu: '100m', memory: '64Mi' } }
  const begun = Date.now()
  await core.createNamespacedPod({
    namespace,
    body: {
      metadata: { name },
      spec: {
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        containers: [{ name: 'run', image, command, resources }],
      },
    },
  })
  try {
    while ((await core.readNamespacedPod({ namespace, name })).status?.phase !== 'Succeeded') await delay(50)
    return { begun, output: await core.readNamespacedPodLog({ namespace, name }) }
  } finally {
    await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 })
  }
}
