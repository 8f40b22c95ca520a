// Kubernetes for the conformance suite: the fake cluster with both kinds of storage, and a real one if
// MILLRACE_TEST_KUBERNETES names a namespace.
import { KubeConfig } from '@kubernetes/client-node'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { needing } from '../../../../../testbed/src/needing.ts'
import { readConfig } from '../../../src/config/config.ts'
import { openKubernetes } from '../../../src/hosted/kubernetes/driver.ts'
import type { Subject } from '../subject.ts'
import { kubeconfigFor, startKubernetes, type TestKubernetes } from './start.ts'

export const kubernetesSubjects = (): Subject[] => [
  onStandIn('with clones', null),
  onStandIn('with snapshots', 'snapshots'),
  onRealOne(process.env),
]

function onStandIn(storage: string, snapshotClass: string | null): Subject {
  let world: TestKubernetes | null = null
  return {
    name: `on Kubernetes ${storage}`,
    tests: { describe },
    base: 'base:1',
    registry: '',
    async start() {
      world = await startKubernetes()
      this.registry = world.settings.registry
    },
    stop: async () => world?.stop(),
    open: (installationId) => openKubernetes({ ...started(world).settings, installationId, snapshotClass }),
    breakOff: async () => world?.api.fail('not reached'),
    recover: async () => world?.api.fail('none'),
  }
}

/** Configured by the same environment variables as a server. */
function onRealOne({ MILLRACE_TEST_KUBERNETES: namespace, ...env }: NodeJS.ProcessEnv): Subject {
  const lacks = namespace ? null : 'MILLRACE_TEST_KUBERNETES names no namespace'
  let gate: ApiGate | null = null
  return {
    name: 'on a real Kubernetes',
    tests: needing('kubernetes', lacks),
    base: env['MILLRACE_HOSTED_BASE_IMAGE'] ?? '',
    registry: env['MILLRACE_HOSTED_REGISTRY'] ?? '',
    async start() {
      gate = await startApiGate(env['KUBECONFIG'] ?? '')
    },
    stop: async () => gate?.stop(),
    open(installationId) {
      const read = readConfig({ ...env, MILLRACE_HOSTED: `kubernetes:${namespace}` })
      if (!read.ok) throw new Error(read.problems.join(' '))
      const { hosted } = read.config
      if (hosted?.engine.kind !== 'kubernetes') throw new Error('Nothing is hosted.')
      return openKubernetes({
        ...hosted.engine,
        installationId,
        registry: hosted.registry,
        baseImage: hosted.baseImage,
        kubeconfig: started(gate).kubeconfig,
        buildSeconds: 600,
        runner: null,
        warn() {},
      })
    },
    breakOff: async () => started(gate).close(),
    recover: async () => started(gate).open(),
  }
}

interface ApiGate {
  kubeconfig: string
  close(): void
  open(): void
  stop(): Promise<void>
}

/** A proxy in front of an API server that can be closed. */
async function startApiGate(kubeconfig: string): Promise<ApiGate> {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  const [cluster, user] = [started(config.getCurrentCluster()), started(config.getCurrentUser())]
  const { hostname, port } = new URL(cluster.server)
  const sockets = new Set<Socket>()
  let isClosed = false
  const gate = createServer((client) => {
    if (isClosed) return void client.destroy()
    const upstream = connect(Number(port || 443), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.pipe(upstream).pipe(client)
  })
  gate.listen(0, '127.0.0.1')
  await once(gate, 'listening')
  const folder = await mkdtemp(join(tmpdir(), 'mr-kube-'))
  const path = join(folder, 'config')
  const dropAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const through = {
    server: `https://127.0.0.1:${(gate.address() as AddressInfo).port}`,
    'tls-server-name': hostname,
    ...(cluster.caData === undefined ? {} : { 'certificate-authority-data': cluster.caData }),
    ...(cluster.caFile === undefined ? {} : { 'certificate-authority': cluster.caFile }),
  }
  const as = {
    ...(user.token === undefined ? {} : { token: user.token }),
    ...(user.certData === undefined ? {} : { 'client-certificate-data': user.certData }),
    ...(user.keyData === undefined ? {} : { 'client-key-data': user.keyData }),
  }
  await writeFile(path, kubeconfigFor(through, as))
  return {
    kubeconfig: path,
    close() {
      isClosed = true
      dropAll()
    },
    open() {
      isClosed = false
    },
    async stop() {
      dropAll()
      gate.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function started<T>(value: T | null): T {
  if (value === null) throw new Error('It is not there.')
  return value
}
