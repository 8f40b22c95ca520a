// Hosted clusters on a real container engine, also when the server is killed.
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import tar from 'tar-stream'
import { freePort } from '../testbed/src/free-port.ts'
import { needing } from '../testbed/src/needing.ts'
import { acquireEngines, type TestEngine } from '../testbed/src/test-engines.ts'
import { expectCacheOfPassedJobs } from './hosted-cache.ts'
import {
  countResources,
  HostedCluster,
  hostedSettings,
  importJobImage,
  untilFreed,
} from './hosted-cluster.ts'
import { aDataDirectory, eventually, millrace, startServer } from './millrace.ts'

for (const { name, lacks, get, release } of await acquireEngines())
  needing('containers', lacks).describe(`hosted clusters on ${name}`, () => {
    let engine: TestEngine
    beforeAll(async () => {
      engine = get()
      await importJobImage(engine)
    })
    afterAll(() => release())

    async function start() {
      const settings = { ...hostedSettings(engine, aDataDirectory()), PORT: String(await freePort()) }
      const server = await startServer(settings)
      return { settings, cluster: await HostedCluster.create(server, settings) }
    }

    it('build an image and run a job in it, which finds the installed tool', async () => {
      const { cluster } = await start()
      const instructions = 'RUN mkdir /tools && cp /etc/two /tools/two\nENV TOOL=/tools/two'
      const image = await cluster.startImage('tools', instructions)
      const built = await cluster.untilBuilt(image)
      expect(built).toMatchObject({ status: 'READY', last_build_error: null })
      expect((await cluster.get(`${image}/log`)).body.content).toContain('cp /etc/two /tools/two')
      await cluster.useImage(String(built.image_ref))
      const before = await countResources(engine, cluster.server)
      const pipeline = await cluster.pipeline('Tools', 'cat $$TOOL')
      const ended = await cluster.run(pipeline)
      expect(ended.log).toContain('\ntwo\n')
      expect(ended).toMatchObject({ state: 'passed' })
      const broken = await cluster.startImage('broken', 'RUN cat /nowhere')
      const failed = await cluster.untilBuilt(broken)
      expect(failed).toMatchObject({ status: 'FAILED', image_ref: null })
      expect(failed.last_build_error).toContain('cat /nowhere')
      // Docker's network and the two volumes of the runner stay for the next job.
      await eventually('the container is gone', async () => {
        const found = await countResources(engine, cluster.server)
        return found.containers === before.containers && found.tokens === before.tokens
      })
    })

    it('keep the cache of a job that passes, and give 20 concurrent jobs a copy each', async () => {
      const { cluster } = await start()
      const pipeline = await cluster.pipeline('Cached', 'eval "$$SCRIPT"', 'kept')
      await expectCacheOfPassedJobs(cluster, pipeline)
      const script = (index: number) =>
        `echo had $(cat kept/a); echo ${index} > kept/a; while ! test -e /go; do sleep 0.2; done; echo has $(cat kept/a)`
      const builds = await Promise.all(
        Array.from({ length: 20 }, (_, index) => cluster.startBuild(pipeline, { SCRIPT: script(index) })),
      )
      for (const build of builds) {
        const isWriting = async () => (await cluster.logOf(build)).includes('\nhad ')
        await eventually('the job waits for the others', isWriting, 240_000, 500)
      }
      const containers = await engine.docker.listContainers()
      expect(containers).toHaveLength(20)
      await Promise.all(containers.map(({ Id }) => openGate(engine, Id)))
      for (const [index, build] of builds.entries()) {
        const ended = await cluster.untilEnded(build)
        expect(ended.log).toContain('\nhad one\n')
        expect(ended.log).toContain(`\nhas ${index}\n`)
        expect(ended).toMatchObject({ state: 'passed' })
      }
      await cluster.untilIdle()
      const { body } = await cluster.get(`${cluster.path}/cache_volumes`)
      expect(body).toMatchObject([{ tag: `${pipeline.id}/${pipeline.slug}` }])
    })

    it('end an image build and a job after kill -9 of the server, and leave nothing behind', async () => {
      const { settings, cluster } = await start()
      const first = cluster.server
      const pipeline = await cluster.pipeline(
        'Killed',
        'cp /etc/one kept/a; echo begun; while test -n "$$HOLD" && ! test -e /go; do sleep 0.2; done; echo over',
        'kept',
      )
      // Everything that stays for the next job, such as the runner, is there from now on.
      expect(await cluster.run(pipeline)).toMatchObject({ state: 'passed' })
      await cluster.untilIdle()
      await cluster.clearCache()
      const before = await countResources(engine, first)

      const build = await cluster.startBuild(pipeline, { HOLD: 'yes' })
      await eventually('the job runs', async () => (await cluster.logOf(build)).includes('\nbegun\n'))
      const image = await cluster.startImage('slow', 'RUN cp /etc/one /a\nRUN sleep 15\nRUN cp /etc/two /b')
      await eventually('the image is being built', async () => {
        const { body } = await cluster.get(`${image}/log`)
        return String(body.content).includes('sleep 15')
      })
      first.killGroup()
      await first.ended
      cluster.server = await startServer(settings)
      const running = await engine.docker.listContainers({ filters: { label: ['millrace.kind=container'] } })
      expect(running).toHaveLength(1)
      await Promise.all(running.map(({ Id }) => openGate(engine, Id)))
      const ended = await cluster.untilEnded(build)
      expect(ended.log).toContain('\nover\n')
      expect(ended).toMatchObject({ state: 'passed' })
      expect(await cluster.untilBuilt(image)).toMatchObject({ status: 'READY' })
      await cluster.untilIdle()
      expect(await cluster.delete(image)).toBe(204)
      await cluster.clearCache()
      await untilFreed(engine, cluster.server, before)
    })
  })

/** Writes the file that the container's command waits for. */
async function openGate({ docker }: TestEngine, containerId: string): Promise<void> {
  const pack = tar.pack()
  pack.entry({ name: 'go' }, '')
  pack.finalize()
  await docker.getContainer(containerId).putArchive(Readable.from(pack), { path: '/' })
}

describe('hosted clusters without an engine', () => {
  it('answer 503 only for their images, and the server starts', async () => {
    const settings = {
      MILLRACE_DATA_DIR: aDataDirectory(),
      MILLRACE_AGENTS: '0',
      MILLRACE_HOSTED: 'docker:///nowhere/engine.sock',
    }
    const server = await startServer(settings)
    await millrace(['org', 'set', 'default', '--feature', 'custom_agent_images=on'], settings)
    const { body } = await server.post('/v2/organizations/default/clusters', { name: 'Hosted', hosted: true })
    const path = `/v2/organizations/default/clusters/${String(body.id)}`
    expect((await server.get(`${path}/agent-images`)).status).toBe(503)
    expect((await server.get(path)).status).toBe(200)
    expect((await server.get('/v2/organizations/default/builds')).status).toBe(200)
  })
})
