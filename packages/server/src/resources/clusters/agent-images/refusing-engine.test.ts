// An engine that answers and can run no container: nothing waits for ever, and what it says is shown.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { baseImage } from '../../../../../../testbed/src/engine.ts'
import { needing } from '../../../../../../testbed/src/needing.ts'
import {
  refusal,
  refusingEngineLacks,
  startRefusingEngine,
  type RefusingEngine,
} from '../../../../../../testbed/src/refusing-engine.ts'
import { startApp, type TestApp } from '../../../../test/app.ts'
import { aCluster, anAdmin, anOrganization, withFeature } from '../../../../test/builders.ts'
import { openDocker } from '../../../hosted/docker/driver.ts'
import { newId } from '../../../lib/ids.ts'
import { buildImages, waitForBuilds } from './build.ts'

needing('containers', refusingEngineLacks()).describe('an engine that refuses every container', () => {
  let engine: RefusingEngine
  let app: TestApp
  beforeAll(async () => {
    engine = await startRefusingEngine()
    const hosted = openDocker({
      socketPath: engine.socketPath,
      installationId: newId(),
      registry: 'localhost/millrace',
      helperImage: baseImage,
      allowed: [],
      runner: null,
    })
    const MILLRACE_HOSTED = `docker://${engine.socketPath}`
    app = await startApp({ hosted, env: { MILLRACE_HOSTED, MILLRACE_HOSTED_BASE_IMAGE: baseImage } })
  })
  afterAll(async () => {
    await app?.close()
    await engine?.stop()
  })

  async function anImage(dockerfile: string) {
    const org = await anOrganization(app)
    await withFeature(app, org, 'custom_agent_images')
    const admin = await anAdmin(app, org)
    const { token } = admin
    const cluster = await aCluster(app, org, admin, { hosted: true })
    const path = `${cluster.path}/agent-images`
    const { status, body } = await app.request('POST', path, { token, body: { name: 'tools', dockerfile } })
    expect(status).toBe(201)
    const id = String(body.id)
    const show = async () => (await app.request('GET', `${path}/${id}`, { token })).body
    const build = async () => {
      await buildImages(app.ctx)
      await waitForBuilds(app.ctx)
    }
    return { id, show, build }
  }

  it('fails the build of an image in its own words', async () => {
    const { id, show, build } = await anImage('RUN true')
    await build()
    const first = await show()
    expect(String(first.last_build_error)).toContain(refusal)
    expect(first).toMatchObject({ status: 'BUILDING' })
    const past = sql`build_started_at = now() - interval '30 minutes', build_lease_until = now() - interval '1 second'`
    await sql`update agent_images set ${past} where id = ${id}`.execute(app.db)
    await build()
    const last = await show()
    expect(last).toMatchObject({ status: 'FAILED' })
    expect(String(last.last_build_error)).toContain(refusal)
  })

  it('refuses to start a container in its own words', async () => {
    const container = {
      id: newId(),
      clusterId: newId(),
      image: baseImage,
      command: ['true'],
      environment: {},
      limits: { cpus: 1, memoryMb: 64, processes: 20 },
      mounts: [],
    }
    const starting = app.ctx.hosted?.startContainer(container)
    await expect(starting).rejects.toThrow(refusal)
  })
})
