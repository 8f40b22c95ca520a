// Agent images with a real container engine under real processes, and what becomes of them when those are killed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missing, startEngine, type TestEngine } from '../packages/server/test/engines.ts'
import { aDirectory, eventually, millrace, startServer, type Json, type Server } from './millrace.ts'

const lacks = await missing('Docker')

describe.skipIf(lacks !== null)(
  `agent images on Docker${lacks === null ? '' : ` (skipped: ${lacks})`}`,
  { timeout: 300_000 },
  () => {
    let engine: TestEngine
    beforeAll(async () => {
      engine = await startEngine('Docker')
    }, 180_000)
    afterAll(async () => engine.stop(), 60_000)

    async function start(dataDir: string): Promise<Server> {
      return startServer({
        MILLRACE_DATA_DIR: dataDir,
        MILLRACE_AGENTS: '0',
        MILLRACE_HOSTED: `docker://${engine.socketPath}`,
        MILLRACE_HOSTED_BASE_IMAGE: engine.base,
      })
    }

    /** A server with a hosted cluster whose organization may have images of its own. */
    async function startHosted() {
      const dataDir = aDirectory()
      const server = await start(dataDir)
      const feature = ['org', 'set', 'default', '--feature', 'custom_agent_images=on']
      expect(await millrace(feature, { MILLRACE_DATA_DIR: dataDir })).toMatchObject({ code: 0 })
      const { status, body } = await server.post('/v2/organizations/default/clusters', {
        name: 'Hosted',
        hosted: true,
      })
      expect(status).toBe(201)
      return { dataDir, server, path: `/v2/organizations/default/clusters/${String(body.id)}/agent-images` }
    }

    const untilBuilt = (server: Server, path: string, token: string): Promise<Json> =>
      eventually(
        'the build has ended',
        async () => {
          const { body } = await server.get(path, token)
          return String(body.status) === 'BUILDING' ? undefined : body
        },
        120_000,
      )

    const count = async () => {
      const [containers, images] = await Promise.all([
        engine.docker.listContainers({ all: true }),
        engine.docker.listImages({ all: true }),
      ])
      return { containers: containers.length, images: images.length }
    }

    const outputOf = async (image: string, command: string[]): Promise<string> => {
      const container = await engine.docker.createContainer({ Image: image, Entrypoint: command, Tty: true })
      await container.start()
      await container.wait()
      const output = (await container.logs({ stdout: true, follow: false })).toString()
      await container.remove()
      return output
    }

    it('are built by the engine from what was posted, and their logs can be read', async () => {
      const { server, path } = await startHosted()
      const body = { name: 'tools', dockerfile: 'RUN cp /etc/two /usr/bin/tool\nRUN cat /usr/bin/tool' }
      const created = await server.post(path, body)
      expect(created).toMatchObject({ status: 201, body: { status: 'BUILDING', image_ref: null } })
      const image = `${path}/${String(created.body.id)}`
      const built = await untilBuilt(server, image, server.token)
      expect(built).toMatchObject({ status: 'READY', last_build_error: null })
      expect(await outputOf(String(built.image_ref), ['cat', '/usr/bin/tool'])).toBe('two\r\n')
      const log = await server.get(`${image}/log`)
      expect(log.body.content).toContain('RUN cp /etc/two /usr/bin/tool')
      const broken = await server.post(path, { name: 'broken', dockerfile: 'RUN cat /nowhere' })
      const failed = await untilBuilt(server, `${path}/${String(broken.body.id)}`, server.token)
      expect(failed).toMatchObject({ status: 'FAILED', image_ref: null })
      expect(failed.last_build_error).toContain('cat /nowhere')
    })

    it('are built to the end after a kill -9 of the server, and nothing is left over', async () => {
      const { dataDir, server, path } = await startHosted()
      const before = await count()
      const created = await server.post(path, {
        name: 'slow',
        dockerfile: 'RUN cp /etc/one /a\nRUN sleep 8\nRUN cp /etc/two /b',
      })
      const image = `${path}/${String(created.body.id)}`
      await eventually('the build is in the middle', async () => {
        const { body } = await server.get(`${image}/log`)
        return String(body.content).includes('sleep 8')
      })
      server.signal('SIGKILL')
      await server.ended
      const again = await start(dataDir)
      const built = await untilBuilt(again, image, server.token)
      expect(built).toMatchObject({ status: 'READY' })
      expect(await outputOf(String(built.image_ref), ['cat', '/a', '/b'])).toBe('one\r\ntwo\r\n')
      expect(await count()).toEqual({ ...before, images: before.images + 1 })
      const deleted = await fetch(again.url + image, {
        method: 'DELETE',
        headers: { Authorization: `Bearer ${server.token}` },
      })
      expect(deleted.status).toBe(204)
      expect(await count()).toEqual(before)
    })

    it('do without an engine: the server starts, and answers 503 for them alone', async () => {
      const dataDir = aDirectory()
      const server = await startServer({
        MILLRACE_DATA_DIR: dataDir,
        MILLRACE_AGENTS: '0',
        MILLRACE_HOSTED: 'docker:///nowhere/engine.sock',
      })
      await millrace(['org', 'set', 'default', '--feature', 'custom_agent_images=on'], {
        MILLRACE_DATA_DIR: dataDir,
      })
      const { body } = await server.post('/v2/organizations/default/clusters', {
        name: 'Hosted',
        hosted: true,
      })
      const path = `/v2/organizations/default/clusters/${String(body.id)}`
      expect((await server.get(`${path}/agent-images`)).status).toBe(503)
      expect((await server.get(path)).status).toBe(200)
      expect((await server.get('/v2/organizations/default/builds')).status).toBe(200)
    })
  },
)
