// Hosted jobs and image builds on a real Kubernetes, in the namespace of MILLRACE_TEST_KUBERNETES. The variables of a
// server configure the rest; HOST is an address of this machine that pods can reach.
import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type V1Container,
  type V1Pod,
} from '@kubernetes/client-node'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import { freePort } from '../testbed/src/free-port.ts'
import { expectCacheOfPassedJobs } from './hosted-cache.ts'
import { countAgents, HostedCluster } from './hosted-cluster.ts'
import { aDataDirectory, eventually, startServer, type Server, type Settings } from './millrace.ts'

const { MILLRACE_TEST_KUBERNETES: namespace = '', HOST: host = '', KUBECONFIG: kubeconfig = '' } = process.env
const lacks = namespace === '' ? 'MILLRACE_TEST_KUBERNETES names no namespace' : null
const deadlineMs = 300_000

function settingsOf(dataDir: string): Settings {
  const given = Object.entries(process.env).filter(([name]) => name.startsWith('MILLRACE_HOSTED_'))
  return {
    ...(Object.fromEntries(given) as Settings),
    KUBECONFIG: kubeconfig,
    HOST: host,
    MILLRACE_DATA_DIR: dataDir,
    MILLRACE_AGENTS: '0',
    MILLRACE_HOSTED: `kubernetes:${namespace}`,
    MILLRACE_HOSTED_WARM_AGENTS: '0',
  }
}

function openConfig(): KubeConfig {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  return config
}

/** Counts all resources in the namespace, and agents in the database. */
async function countResources(server: Server) {
  const config = openConfig()
  const [core, custom] = [config.makeApiClient(CoreV1Api), config.makeApiClient(CustomObjectsApi)]
  const group = { group: 'snapshot.storage.k8s.io', version: 'v1', plural: 'volumesnapshots' }
  const [pods, claims, records, snapshots] = await Promise.all([
    core.listNamespacedPod({ namespace }),
    core.listNamespacedPersistentVolumeClaim({ namespace }),
    core.listNamespacedConfigMap({ namespace, labelSelector: 'millrace.kind in (image, equipped)' }),
    // Clusters may not have snapshots.
    custom.listNamespacedCustomObject({ namespace, ...group }).catch(() => ({ items: [] })),
  ])
  return {
    pods: pods.items.length,
    claims: claims.items.length,
    // The base image with the runner stays for later jobs.
    records: records.items.filter(({ data }) => !data?.['ref']?.includes('/base:')).length,
    snapshots: (snapshots as { items: unknown[] }).items.length,
    tokens: await countAgents(server),
  }
}

async function untilFreed(server: Server, before: Awaited<ReturnType<typeof countResources>>): Promise<void> {
  let found = before
  const isAsBefore = async () => isDeepStrictEqual((found = await countResources(server)), before)
  await eventually('nothing is left', isAsBefore, deadlineMs, 500).catch((cause: unknown) => {
    throw new Error(`There is ${JSON.stringify(found)}, and was ${JSON.stringify(before)}.`, { cause })
  })
}

/** An HTTP server that jobs poll until the gate opens. */
async function startGate() {
  let isOpen = false
  const server = createServer((_, answer) => answer.end(isOpen ? 'go' : 'wait'))
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const ask = `exec 3<>/dev/tcp/${host}/${port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`
  const wait = `until [[ "$(${ask})" == *go* ]]; do sleep 0.5; done`
  return { wait, open: () => void (isOpen = true) }
}

/** A copy of a job's pod with other labels and another command. Deleted after the test. */
async function copyPod(core: CoreV1Api, job: V1Pod, labels: Record<string, string>, script: string) {
  const asCopy = (container: V1Container, command = container.command ?? []): V1Container => ({
    name: container.name,
    image: container.image ?? '',
    volumeMounts: container.volumeMounts ?? [],
    command,
  })
  const { volumes = [], initContainers = [], containers = [] } = job.spec ?? {}
  const name = `copy-${randomUUID()}`
  await core.createNamespacedPod({
    namespace,
    body: {
      metadata: { name, labels },
      spec: {
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        volumes,
        initContainers: initContainers.map((one) => asCopy(one)),
        containers: containers.map((one) => asCopy(one, [runNode, '-e', script])),
      },
    },
  })
  onTestFinished(async () => {
    await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 })
  })
  const read = async () => (await core.readNamespacedPodLog({ namespace, name }).catch(() => '')) ?? ''
  return {
    name,
    /** The match in its log, as soon as there is one. */
    logMatch: (pattern: RegExp) =>
      eventually('the pod logs it', async () => pattern.exec(await read())?.[1] ?? false, deadlineMs, 200),
    address: async () => (await core.readNamespacedPod({ namespace, name })).status?.podIP ?? '',
  }
}

const installationLabel = 'millrace.installation'

/** These tests run one job at a time. */
async function findJobPod(core: CoreV1Api): Promise<V1Pod | false> {
  const { items } = await core.listNamespacedPod({ namespace, labelSelector: 'millrace.kind=container' })
  return items.find(({ status }) => status?.phase === 'Running') ?? false
}

const runNode = '/opt/millrace/bin/run-node'

const listen = `require('node:net').createServer().listen(8000, () =>
  console.log('LISTENS ' + process.env.KUBERNETES_SERVICE_HOST + ':' + process.env.KUBERNETES_SERVICE_PORT))`

/** Prints which of these addresses accept connections. */
const probe = (places: Record<string, string>) => `
const net = require('node:net')
const reach = ([name, place]) => new Promise((done) => {
  const [, host, port] = /^(.*):([0-9]+)$/.exec(place)
  const socket = net.connect({ host, port: Number(port), timeout: 60_000 })
  const end = (isReached) => (socket.destroy(), done([name, isReached]))
  socket.on('connect', () => end(true)).on('timeout', () => end(false)).on('error', () => end(false))
})
Promise.all(Object.entries(${JSON.stringify(places)}).map(reach)).then((all) =>
  console.log('REACHES ' + JSON.stringify(Object.fromEntries(all))))`
const reaches = /REACHES (\{.*\})/

needing('kubernetes', lacks).describe('hosted clusters on a real Kubernetes', () => {
  async function start() {
    const settings = { ...settingsOf(aDataDirectory()), PORT: String(await freePort()) }
    const server = await startServer(settings)
    return { settings, server, cluster: await HostedCluster.create(server, settings) }
  }

  it('build an image, run a job in it, and keep only its cache', async () => {
    const { server, cluster } = await start()
    const before = await countResources(server)
    const image = await cluster.startImage('tools', 'RUN mkdir /tools && cp /etc/two /tools/two')
    const built = await cluster.untilBuilt(image)
    expect(built).toMatchObject({ status: 'READY', last_build_error: null })
    await cluster.useImage(String(built.image_ref))
    const pipeline = await cluster.pipeline('Tools', 'eval "$$SCRIPT"', 'kept')
    const run = (script: string) => cluster.run(pipeline, { SCRIPT: script })
    expect(await run('cp /etc/one kept/a')).toMatchObject({ state: 'passed' })
    await cluster.untilIdle()
    const again = await run('cat kept/a /tools/two')
    expect(again.log).toContain('\none\ntwo\n')
    expect(again).toMatchObject({ state: 'passed' })
    await cluster.untilIdle()
    await cluster.useImage(null)
    expect(await cluster.delete(image)).toBe(204)
    await cluster.clearCache()
    await untilFreed(server, before)
  })

  it('keep the cache of a job that passes, and give 3 concurrent jobs a copy each', async () => {
    const { server, cluster } = await start()
    const before = await countResources(server)
    const gate = await startGate()
    const pipeline = await cluster.pipeline('Cached', 'bash -c "$$SCRIPT"', 'kept')
    await expectCacheOfPassedJobs(cluster, pipeline)
    const script = (index: number) =>
      `echo had $(cat kept/a); echo ${index} > kept/a; ${gate.wait}; echo has $(cat kept/a)`
    const builds = await Promise.all(
      [1, 2, 3].map((index) => cluster.startBuild(pipeline, { SCRIPT: script(index) })),
    )
    for (const build of builds) {
      const isWriting = async () => (await cluster.logOf(build)).includes('\nhad ')
      await eventually('the job waits for the others', isWriting, deadlineMs, 500)
    }
    gate.open()
    for (const [index, build] of builds.entries()) {
      const ended = await cluster.untilEnded(build)
      expect(ended.log).toContain('\nhad one\n')
      expect(ended.log).toContain(`\nhas ${index + 1}\n`)
      expect(ended).toMatchObject({ state: 'passed' })
    }
    await cluster.untilIdle()
    const { body } = await cluster.get(`${cluster.path}/cache_volumes`)
    expect(body).toMatchObject([{ tag: `${pipeline.id}/${pipeline.slug}` }])
    await cluster.clearCache()
    await untilFreed(server, before)
  })

  it('end a fork bomb that exceeds the process limit of its shape, and run the next job', async () => {
    const { server, cluster } = await start()
    const before = await countResources(server)
    const pipeline = await cluster.pipeline('Bomb', 'eval "$$SCRIPT"')
    const bomb = await cluster.run(pipeline, {
      SCRIPT: 'bomb() { bomb | bomb & }; echo begun; bomb; sleep 600',
    })
    expect(bomb.log).toContain('\nbegun\n')
    const [line = ''] = bomb.log.trimEnd().split('\n').slice(-1)
    expect(line).toContain('There were more than 2048 processes and threads at once')
    expect(bomb).toMatchObject({ state: 'failed' })
    expect(await cluster.run(pipeline, { SCRIPT: 'true' })).toMatchObject({ state: 'passed' })
    await untilFreed(server, before)
  })

  // The network plugin must enforce the policy. A pod without the policy reaches everything that a job's pod must not.
  it('isolate a job from nodes, the API server, services, pods and other jobs', async () => {
    const { server, cluster } = await start()
    const [core, gate] = [openConfig().makeApiClient(CoreV1Api), await startGate()]
    const pipeline = await cluster.pipeline('Network', 'eval "$$SCRIPT"')
    const waiting = await cluster.startBuild(pipeline, { SCRIPT: gate.wait })
    const job = await eventually('the job runs', () => findJobPod(core), deadlineMs, 200)
    const installation = { [installationLabel]: job.metadata?.labels?.[installationLabel] ?? '' }
    const [free, another] = await Promise.all([
      copyPod(core, job, {}, listen),
      copyPod(core, job, installation, listen),
    ])
    const service = await free.logMatch(/LISTENS (\S+)/)
    await another.logMatch(/LISTENS (\S+)/)
    gate.open()
    expect(await cluster.untilEnded(waiting)).toMatchObject({ state: 'passed' })
    const places = {
      node: `${job.status?.hostIP}:10250`,
      api: new URL(openConfig().getCurrentCluster()?.server ?? '').host,
      service,
      pod: `${await free.address()}:8000`,
      job: `${await another.address()}:8000`,
      metadata: '169.254.169.254:80',
      millrace: new URL(server.url).host,
      public: process.env['MILLRACE_TEST_PUBLIC'] ?? '1.1.1.1:443',
    }
    const control = await copyPod(core, job, {}, probe(places))
    const [outside, inside] = [
      { millrace: true, public: true },
      { node: true, api: true, service: true, pod: true },
    ]
    expect(JSON.parse(await control.logMatch(reaches))).toMatchObject({ ...outside, ...inside, job: false })
    const { log } = await cluster.run(pipeline, { SCRIPT: `${runNode} -e "$PROBE"`, PROBE: probe(places) })
    const nothing = { node: false, api: false, service: false, pod: false, job: false, metadata: false }
    expect(JSON.parse(reaches.exec(log)?.[1] ?? '{}')).toEqual({ ...outside, ...nothing })
  })

  it('end an image build after kill -9 of the server, and leave nothing behind', async () => {
    const { settings, server, cluster } = await start()
    const before = await countResources(server)
    const image = await cluster.startImage('slow', 'RUN cp /etc/one /a\nRUN sleep 15\nRUN cp /etc/two /b')
    const isInTheMiddle = async () =>
      String((await cluster.get(`${image}/log`)).body.content).includes('sleep 15')
    await eventually('the image is being built', isInTheMiddle, deadlineMs, 200)
    server.killGroup()
    await server.ended
    cluster.server = await startServer(settings)
    expect(await cluster.untilBuilt(image)).toMatchObject({ status: 'READY' })
    expect(await cluster.delete(image)).toBe(204)
    await untilFreed(cluster.server, before)
  })

  it('end a job after kill -9 of the server, and leave nothing behind', async () => {
    const { settings, server, cluster } = await start()
    const gate = await startGate()
    const before = await countResources(server)
    const pipeline = await cluster.pipeline('Killed', 'bash -c "$$SCRIPT"', 'kept')
    const build = await cluster.startBuild(pipeline, { SCRIPT: `echo begun; ${gate.wait}; echo over` })
    const hasBegun = async () => (await cluster.logOf(build)).includes('\nbegun\n')
    await eventually('the job runs', hasBegun, deadlineMs, 200)
    server.killGroup()
    await server.ended
    cluster.server = await startServer(settings)
    gate.open()
    const ended = await cluster.untilEnded(build)
    expect(ended.log).toContain('\nover\n')
    expect(ended).toMatchObject({ state: 'passed' })
    await cluster.untilIdle()
    await cluster.clearCache()
    await untilFreed(cluster.server, before)
  })
})
