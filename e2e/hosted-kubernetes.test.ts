// Whole hosted jobs and image builds on a real Kubernetes, where MILLRACE_TEST_KUBERNETES names a namespace of it. The
// variables that set up a server say the rest, HOST among them: an address of this machine that pods reach.
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
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectKeptWherePassed } from './hosted-cache.ts'
import { countAgents, HostedCluster } from './hosted-cluster.ts'
import { aDataDirectory, eventually, startServer, type Server, type Settings } from './millrace.ts'

const { MILLRACE_TEST_KUBERNETES: namespace = '', HOST: host = '', KUBECONFIG: kubeconfig = '' } = process.env
const lacks = namespace === '' ? 'MILLRACE_TEST_KUBERNETES names no namespace' : null
const patienceMs = 300_000

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

/** What there is in the namespace, whoever made it, and in the database. */
async function countHeld(server: Server) {
  const config = openConfig()
  const [core, custom] = [config.makeApiClient(CoreV1Api), config.makeApiClient(CustomObjectsApi)]
  const group = { group: 'snapshot.storage.k8s.io', version: 'v1', plural: 'volumesnapshots' }
  const [pods, claims, records, snapshots] = await Promise.all([
    core.listNamespacedPod({ namespace }),
    core.listNamespacedPersistentVolumeClaim({ namespace }),
    core.listNamespacedConfigMap({ namespace, labelSelector: 'millrace.kind in (image, equipped)' }),
    // A cluster without them has none.
    custom.listNamespacedCustomObject({ namespace, ...group }).catch(() => ({ items: [] })),
  ])
  return {
    pods: pods.items.length,
    claims: claims.items.length,
    // The base image with the runner in it stays for the jobs to come.
    records: records.items.filter(({ data }) => !data?.['ref']?.includes('/base:')).length,
    snapshots: (snapshots as { items: unknown[] }).items.length,
    tokens: await countAgents(server),
  }
}

async function untilHeld(server: Server, before: Awaited<ReturnType<typeof countHeld>>): Promise<void> {
  let held = before
  const isAsBefore = async () => isDeepStrictEqual((held = await countHeld(server)), before)
  await eventually('nothing is left', isAsBefore, patienceMs, 500).catch((cause: unknown) => {
    throw new Error(`There is ${JSON.stringify(held)}, and was ${JSON.stringify(before)}.`, { cause })
  })
}

/** What a job asks until it is told to go on. */
async function startDoor() {
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

/** A pod like that of a job, but for its labels and what it runs. Gone after the test. */
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
    /** What it says, as soon as that matches. */
    said: (pattern: RegExp) =>
      eventually('the pod says it', async () => pattern.exec(await read())?.[1] ?? false, patienceMs, 200),
    address: async () => (await core.readNamespacedPod({ namespace, name })).status?.podIP ?? '',
  }
}

const installationLabel = 'millrace.installation'

/** There is one job at a time. */
async function findJobPod(core: CoreV1Api): Promise<V1Pod | false> {
  const { items } = await core.listNamespacedPod({ namespace, labelSelector: 'millrace.kind=container' })
  return items.find(({ status }) => status?.phase === 'Running') ?? false
}

const runNode = '/opt/millrace/bin/run-node'

const listen = `require('node:net').createServer().listen(8000, () =>
  console.log('LISTENS ' + process.env.KUBERNETES_SERVICE_HOST + ':' + process.env.KUBERNETES_SERVICE_PORT))`

/** Says which of these can be connected to. */
const probe = (places: Record<string, string>) => `
const net = require('node:net')
const reach = ([name, place]) => new Promise((done) => {
  const [, host, port] = /^(.*):([0-9]+)$/.exec(place)
  const socket = net.connect({ host, port: Number(port), timeout: 3000 })
  const end = (isReached) => (socket.destroy(), done([name, isReached]))
  socket.on('connect', () => end(true)).on('timeout', () => end(false)).on('error', () => end(false))
})
Promise.all(Object.entries(${JSON.stringify(places)}).map(reach)).then((all) =>
  console.log('REACHES ' + JSON.stringify(Object.fromEntries(all))))`
const reaches = /REACHES (\{.*\})/

const skipped = lacks === null ? '' : ` (skipped: ${lacks})`
describe.skipIf(lacks !== null)(
  `hosted clusters on a real Kubernetes${skipped}`,
  { timeout: 900_000 },
  () => {
    async function start() {
      const settings = settingsOf(aDataDirectory())
      const server = await startServer(settings)
      return { settings, server, cluster: await HostedCluster.make(server, settings) }
    }

    it('build an image, run a job in it, and keep nothing of the job but its cache', async () => {
      const { server, cluster } = await start()
      const before = await countHeld(server)
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
      expect(await cluster.remove(image)).toBe(204)
      await cluster.clearCache()
      await untilHeld(server, before)
    })

    it('keep what a job that passes leaves in its cache, and give each of 3 at once its own copy', async () => {
      const { server, cluster } = await start()
      const before = await countHeld(server)
      const door = await startDoor()
      const pipeline = await cluster.pipeline('Cached', 'bash -c "$$SCRIPT"', 'kept')
      await expectKeptWherePassed(cluster, pipeline)
      const script = (index: number) =>
        `echo had $(cat kept/a); echo ${index} > kept/a; ${door.wait}; echo has $(cat kept/a)`
      const builds = await Promise.all(
        [1, 2, 3].map((index) => cluster.startBuild(pipeline, { SCRIPT: script(index) })),
      )
      for (const build of builds) {
        const isWriting = async () => (await cluster.logOf(build)).includes('\nhad ')
        await eventually('the job waits for the others', isWriting, patienceMs, 500)
      }
      door.open()
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
      await untilHeld(server, before)
    })

    it('end a fork bomb once it has more processes than its shape may have, and run what comes after', async () => {
      const { server, cluster } = await start()
      const before = await countHeld(server)
      const pipeline = await cluster.pipeline('Bomb', 'eval "$$SCRIPT"')
      const bomb = await cluster.run(pipeline, {
        SCRIPT: 'bomb() { bomb | bomb & }; echo begun; bomb; sleep 600',
      })
      expect(bomb.log).toContain('\nbegun\n')
      const [line = ''] = bomb.log.trimEnd().split('\n').slice(-1)
      expect(line).toContain('There were more than 2048 processes and threads at once')
      expect(bomb).toMatchObject({ state: 'failed' })
      expect(await cluster.run(pipeline, { SCRIPT: 'true' })).toMatchObject({ state: 'passed' })
      await untilHeld(server, before)
    })

    // What the network plugin has to enforce. A pod that the policy is not about reaches all that a job's does not.
    it('keep a job from nodes, the API server, services, pods and other jobs', async () => {
      const { server, cluster } = await start()
      const [core, door] = [openConfig().makeApiClient(CoreV1Api), await startDoor()]
      const pipeline = await cluster.pipeline('Network', 'eval "$$SCRIPT"')
      const waiting = await cluster.startBuild(pipeline, { SCRIPT: door.wait })
      const job = await eventually('the job runs', () => findJobPod(core), patienceMs, 200)
      const installation = { [installationLabel]: job.metadata?.labels?.[installationLabel] ?? '' }
      const [free, another] = await Promise.all([
        copyPod(core, job, {}, listen),
        copyPod(core, job, installation, listen),
      ])
      const service = await free.said(/LISTENS (\S+)/)
      await another.said(/LISTENS (\S+)/)
      door.open()
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
      expect(JSON.parse(await control.said(reaches))).toMatchObject({ ...outside, ...inside, job: false })
      const { log } = await cluster.run(pipeline, { SCRIPT: `${runNode} -e "$PROBE"`, PROBE: probe(places) })
      const nothing = { node: false, api: false, service: false, pod: false, job: false, metadata: false }
      expect(JSON.parse(reaches.exec(log)?.[1] ?? '{}')).toEqual({ ...outside, ...nothing })
    })

    it('end an image build after kill -9 of the server, and leave nothing behind', async () => {
      const { settings, server, cluster } = await start()
      const before = await countHeld(server)
      const image = await cluster.startImage('slow', 'RUN cp /etc/one /a\nRUN sleep 15\nRUN cp /etc/two /b')
      const isInTheMiddle = async () =>
        String((await cluster.get(`${image}/log`)).body.content).includes('sleep 15')
      await eventually('the image is being built', isInTheMiddle, patienceMs, 200)
      server.killGroup()
      await server.ended
      cluster.server = await startServer({ ...settings, PORT: new URL(server.url).port })
      expect(await cluster.untilBuilt(image)).toMatchObject({ status: 'READY' })
      expect(await cluster.remove(image)).toBe(204)
      await untilHeld(cluster.server, before)
    })

    it('end a job after kill -9 of the server, and leave nothing behind', async () => {
      const { settings, server, cluster } = await start()
      const door = await startDoor()
      const before = await countHeld(server)
      const pipeline = await cluster.pipeline('Killed', 'bash -c "$$SCRIPT"', 'kept')
      const build = await cluster.startBuild(pipeline, { SCRIPT: `echo begun; ${door.wait}; echo over` })
      const hasBegun = async () => (await cluster.logOf(build)).includes('\nbegun\n')
      await eventually('the job runs', hasBegun, patienceMs, 200)
      server.killGroup()
      await server.ended
      cluster.server = await startServer({ ...settings, PORT: new URL(server.url).port })
      door.open()
      const ended = await cluster.untilEnded(build)
      expect(ended.log).toContain('\nover\n')
      expect(ended).toMatchObject({ state: 'passed' })
      await cluster.untilIdle()
      await cluster.clearCache()
      await untilHeld(cluster.server, before)
    })
  },
)
