// Whole hosted jobs and image builds on a real Kubernetes, where MILLRACE_TEST_KUBERNETES names a namespace of it. The
// variables that set up a server say the rest, HOST among them: an address of this machine that pods reach.
import { CoreV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
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

/** What there is in the namespace, whoever made it, and in the database. */
async function countHeld(server: Server) {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  const [core, custom] = [config.makeApiClient(CoreV1Api), config.makeApiClient(CustomObjectsApi)]
  const group = { group: 'snapshot.storage.k8s.io', version: 'v1', plural: 'volumesnapshots' }
  const [pods, claims, records, snapshots] = await Promise.all([
    core.listNamespacedPod({ namespace }),
    core.listNamespacedPersistentVolumeClaim({ namespace }),
    core.listNamespacedConfigMap({ namespace }),
    // A cluster without them has none.
    custom.listNamespacedCustomObject({ namespace, ...group }).catch(() => ({ items: [] })),
  ])
  return {
    pods: pods.items.length,
    claims: claims.items.length,
    records: records.items.length,
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
