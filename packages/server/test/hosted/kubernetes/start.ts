// A Kubernetes for tests that needs nothing but Node: an API server, a node, storage and a registry.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubernetesSettings } from '../../../src/hosted/kubernetes/cluster.ts'
import { MemoryEngine } from '../memory-engine.ts'
import { ApiServer } from './api-server.ts'
import { TestCluster } from './cluster.ts'
import { TestRegistry } from './registry.ts'

export interface TestKubernetes {
  api: ApiServer
  cluster: TestCluster
  registry: TestRegistry
  settings: Omit<KubernetesSettings, 'installationId'>
  stop(): Promise<void>
}

export async function startKubernetes(): Promise<TestKubernetes> {
  const [api, registry] = [new ApiServer('ci'), new TestRegistry()]
  const cluster = new TestCluster(api, new MemoryEngine(), registry)
  const [server, host] = await Promise.all([api.start(), registry.start()])
  const folder = await mkdtemp(join(tmpdir(), 'mr-kube-'))
  const kubeconfig = join(folder, 'config')
  await writeFile(kubeconfig, kubeconfigFor({ server, 'insecure-skip-tls-verify': true }))
  return {
    api,
    cluster,
    registry,
    settings: {
      namespace: api.namespace,
      kubeconfig,
      registry: `${host}/millrace`,
      isRegistryInsecure: true,
      registrySecret: null,
      baseImage: 'base:1',
      runtimeClass: null,
      runner: null,
      buildkitImage: 'buildkit:rootless',
      buildSeconds: 600,
      storageClass: null,
      snapshotClass: null,
      sharedStorageClass: 'shared',
      sharedMb: 1024,
      outboundAllow: [],
      isNetworkOpen: false,
      warn() {},
    },
    async stop() {
      await api.stop()
      await registry.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export const kubeconfigFor = (cluster: Record<string, unknown>, user: Record<string, unknown> = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
