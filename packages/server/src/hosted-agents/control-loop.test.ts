// Jobs of hosted queues, from runnable to the end of their container, on an in-memory engine.
import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  aHostedPipeline,
  aHostedWorld,
  runBuild,
  untilEnded,
  untilQuiet,
  useHosted,
  inTime,
  linux2x4,
  patienceMs,
} from '../../test/hosted/world.ts'
import { anAgent, call, registerBody } from '../../test/agent-client.ts'
import { aBuild, jobNamed, statesOf, applyEvent } from '../../test/runs.ts'
import { newId } from '../lib/ids.ts'
import { runnerCommand } from './container.ts'
import { updateMirror } from './mirrors.ts'
import { reconcile } from './reconcile.ts'
import { sharedVolumeReconciler } from './shared-volumes.ts'
import { hostedToken } from './token.ts'

const { app, engine, commands, host } = useHosted()
vi.setConfig({ testTimeout: patienceMs })
beforeAll(async () => {
  await host()
})
beforeEach(() => engine.recover())

/** A command that runs until it is released. */
function aPause(name: string) {
  let release = () => {}
  let begun = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const started = new Promise<void>((resolve) => (begun = resolve))
  commands[name] = async (_, { signal }) => {
    begun()
    await Promise.race([released, new Promise((gone) => signal.addEventListener('abort', gone))])
    return 0
  }
  return { release, started }
}

const rows = () => app.db.selectFrom('hosted_agents').selectAll().execute()

describe('a job of a hosted queue', () => {
  it('runs in its own container, which is deleted afterwards with its agent', async () => {
    const world = await aHostedWorld(app)
    const pipeline = await aHostedPipeline(app, world, '[{ command: "true" }]')
    expect(await runBuild(app, world, pipeline)).toBe('passed')
    await untilQuiet(app)
    const agents = await app.request('GET', `${world.org.path}/agents`, { token: world.admin.token })
    expect(agents.list).toEqual([])
  })

  it('fails if its command fails, and the container is deleted too', async () => {
    const world = await aHostedWorld(app)
    expect(await runBuild(app, world, await aHostedPipeline(app, world, '[{ command: "false" }]'))).toBe(
      'failed',
    )
    await untilQuiet(app)
  })

  it('has the limits of its queue’s shape and no mounts of other jobs', async () => {
    const world = await aHostedWorld(app)
    const { release, started } = aPause('limits')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: limits }]'))
    await started
    const [container] = engine.containers('hosted')
    expect(container).toMatchObject({
      limits: { cpus: 2, memoryMb: 4096, processes: 2048 },
      image: 'base:1',
      mounts: [],
      clusterId: world.cluster.id,
    })
    release()
    expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
  })

  it('can be canceled before its container has started, which is then deleted', async () => {
    const world = await aHostedWorld(app)
    engine.fail('not reached', 'startContainer')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: "true" }]'))
    await inTime('a container is asked for', async () => (await rows()).some(({ last_error }) => last_error))
    await applyEvent(app, build, { type: 'cancel_build', reason: 'changed my mind' })
    engine.recover()
    expect(await untilEnded(app, build)).toBe('canceled')
    await untilQuiet(app)
  })

  it('can be canceled while it runs, and its container ends', async () => {
    const world = await aHostedWorld(app)
    const { started, release } = aPause('cancel-me')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: cancel-me }]'))
    await started
    await applyEvent(app, build, { type: 'cancel_build', reason: 'enough' })
    release()
    expect(await untilEnded(app, build)).toBe('canceled')
    await untilQuiet(app)
  })

  it('waits with a reason while the engine is unreachable, and runs afterwards', async () => {
    const world = await aHostedWorld(app)
    engine.fail('not reached', 'startContainer')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: "true" }]'))
    const id = await jobNamed(app, build, 'true')
    const path = `${world.org.path}/jobs/${id}/waiting`
    const waiting = await inTime('the reason is shown', async () => {
      const { body } = await app.request('GET', path, { token: world.admin.token })
      return String(body.reason).includes('The engine is not reached') && body
    })
    expect(waiting).toMatchObject({ state: 'scheduled', code: 'hosted_agent_failed' })
    expect(await statesOf(app, build)).toEqual({ true: 'scheduled' })
    engine.recover()
    expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
  })

  it("fails with the engine's words when its container cannot be started for an hour", async () => {
    const world = await aHostedWorld(app)
    engine.fail('not reached', 'startContainer')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: "true" }]'))
    const id = await jobNamed(app, build, 'true')
    const past = sql`now() - interval '61 minutes'`
    await inTime('it was tried', async () => {
      const { rows: moved } = await sql`
        update hosted_agents set created_at = ${past}
        where job_id = ${id} and last_error is not null returning id`.execute(app.db)
      return moved.length > 0
    })
    expect(await untilEnded(app, build)).toBe('failed')
    engine.recover()
    await untilQuiet(app)
  })

  it.each(['hangs', 'cut off'] as const)('gets one container when the engine %s', async (trouble) => {
    const world = await aHostedWorld(app)
    engine.fail(trouble, 'startContainer')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: "true" }]'))
    await inTime('it was asked', async () => (await rows()).some(({ last_error }) => last_error))
    engine.recover()
    expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
  })

  it('fails with the reason when its image does not exist', async () => {
    const world = await aHostedWorld(app)
    const pipeline = await aHostedPipeline(app, world, '[{ command: "true", image: "nowhere:9" }]')
    const build = await aBuild(app, world.org, pipeline)
    expect(await untilEnded(app, build)).toBe('failed')
    const id = await jobNamed(app, build, 'true')
    const log = await inTime('the log is written', async () => {
      const { text } = await app.request(
        'GET',
        `${pipeline.path}/builds/${build.number}/jobs/${id}/log.txt`,
        {
          token: world.admin.token,
        },
      )
      return text.includes('nowhere:9') && text
    })
    expect(log).toContain('No agent could be started for this job')
    await untilQuiet(app)
  })

  it('fails when it names an image that was built for another cluster', async () => {
    const world = await aHostedWorld(app)
    const steps = '[{ command: "true", image: "localhost/millrace/abc:v1" }]'
    expect(await runBuild(app, world, await aHostedPipeline(app, world, steps))).toBe('failed')
    await untilQuiet(app)
  })

  it('fails with the container’s output when that ends before its agent has connected', async () => {
    const world = await aHostedWorld(app)
    const runner = engine.programs[runnerCommand]
    engine.programs[runnerCommand] = async ({ write }) => {
      write('no libc here\n')
      return 127
    }
    try {
      const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: "true" }]'))
      await inTime('the container is up', async () => (await rows()).some(({ started_at }) => started_at))
      await reconcile(app.ctx)
      expect(await untilEnded(app, build)).toBe('failed')
      await untilQuiet(app)
    } finally {
      if (runner) engine.programs[runnerCommand] = runner
    }
  })

  it('ends as lost when its container is killed from outside', async () => {
    const world = await aHostedWorld(app)
    const { started } = aPause('killed')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: killed }]'))
    await started
    for (const { id } of engine.containers('hosted')) await app.ctx.hosted?.stopContainer(id)
    await reconcile(app.ctx)
    expect(await untilEnded(app, build)).toBe('failed')
    await untilQuiet(app)
    const id = await jobNamed(app, build, 'killed')
    const { token } = world.admin
    const shown = await app.request('GET', `${world.org.path}/jobs/${id}`, { token })
    expect(shown.body).toMatchObject({ exit_status: -1, signal_reason: null, state_reason: 'agent_lost' })
    const log = await app.request('GET', `${world.org.path}/jobs/${id}/log.txt`, { token })
    expect(log.text).toContain('The agent was lost while it ran this job')
  })

  it('fails with the reason when its rules name an agent image that the cluster does not have', async () => {
    const world = await aHostedWorld(app)
    const pipeline = await aHostedPipeline(app, world, '[{ command: "true", agents: { image: nosuch } }]')
    const build = await aBuild(app, world.org, pipeline)
    expect(await untilEnded(app, build)).toBe('failed')
    const path = `${world.org.path}/jobs/${await jobNamed(app, build, 'true')}/log.txt`
    await inTime('the log says why', async () => {
      const { text } = await app.request('GET', path, { token: world.admin.token })
      return text.includes('The cluster has no agent image "nosuch"')
    })
    await untilQuiet(app)
  })

  it('prevents the deletion of its queue until it has ended', async () => {
    const world = await aHostedWorld(app)
    const { token } = world.admin
    const queue = await app.request('POST', `${world.cluster.path}/queues`, {
      token,
      body: { key: 'other', hostedAgents: { instanceShape: linux2x4 } },
    })
    const path = `${world.cluster.path}/queues/${String(queue.body.id)}`
    const { release, started } = aPause('held')
    const pipeline = await aHostedPipeline(app, world, '[{ command: held, agents: { queue: other } }]')
    const build = await aBuild(app, world.org, pipeline)
    await started
    const refused = await app.request('DELETE', path, { token })
    expect([refused.status, refused.body.message]).toEqual([
      422,
      '1 job runs on hosted agents of other; cancel them, or delete the queue when they have ended',
    ])
    release()
    expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
    expect((await app.request('DELETE', path, { token })).status).toBe(204)
  })

  it('does not start while its queue is paused', async () => {
    const world = await aHostedWorld(app)
    const { token } = world.admin
    await app.request('POST', `${world.queue.path}/pause_dispatch`, { token })
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: "true" }]'))
    const other = await aHostedWorld(app)
    expect(await runBuild(app, other, await aHostedPipeline(app, other, '[{ command: "true" }]'))).toBe(
      'passed',
    )
    expect(await statesOf(app, build)).toEqual({ true: 'scheduled' })
    await app.request('POST', `${world.queue.path}/resume_dispatch`, { token })
    expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
  })

  it('waits if no hosted agent matches its rules, or if its machine is not supported', async () => {
    const world = await aHostedWorld(app)
    const mac = await aHostedWorld(app, 'MACOS_ARM64_M4_6X28')
    const steps = '[{ command: "true", agents: { gpu: "yes" } }]'
    const [one, two] = [
      await aBuild(app, world.org, await aHostedPipeline(app, world, steps)),
      await aBuild(app, mac.org, await aHostedPipeline(app, mac, '[{ command: "true" }]')),
    ]
    expect(await runBuild(app, world, await aHostedPipeline(app, world, '[{ command: "true" }]'))).toBe(
      'passed',
    )
    const reasonOf = async ({ org, admin }: typeof world, build: typeof one) => {
      const id = await jobNamed(app, build, 'true')
      return (await app.request('GET', `${org.path}/jobs/${id}/waiting`, { token: admin.token })).body
    }
    expect(await reasonOf(world, one)).toMatchObject({
      code: 'no_agent',
      reason: expect.stringContaining('gpu=yes'),
    })
    expect(await reasonOf(mac, two)).toMatchObject({
      code: 'no_agent',
      reason: expect.stringContaining('MACOS'),
    })
    await applyEvent(app, one, { type: 'cancel_build', reason: '' })
    await applyEvent(app, two, { type: 'cancel_build', reason: '' })
    await untilQuiet(app)
  })
})

describe('the token of a hosted agent', () => {
  it('registers one agent, for its own queue and job, and is valid for nothing else', async () => {
    const world = await aHostedWorld(app)
    const { started, release } = aPause('token')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: token }]'))
    await started
    const [row] = await rows()
    const token = hostedToken(app.ctx, row?.id ?? '')
    expect((await call(app, token, 'POST', 'register', { body: registerBody() })).status).toBe(401)
    expect((await call(app, token, 'GET', 'token')).status).toBe(401)
    expect((await call(app, token, 'POST', 'stacks/register', { body: {} })).status).toBe(401)
    release()
    await untilEnded(app, build)
    await untilQuiet(app)
    expect((await call(app, token, 'POST', 'register', { body: registerBody() })).status).toBe(401)
  })

  it('expires after a few minutes', async () => {
    const world = await aHostedWorld(app)
    const { started, release } = aPause('late')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: late }]'))
    await started
    const [row] = await rows()
    const register = async () => {
      const token = hostedToken(app.ctx, row?.id ?? '')
      const { status, body } = await call(app, token, 'POST', 'register', { body: registerBody() })
      return [status, body]
    }
    expect(Date.parse(row?.token_expires_at ?? '')).toBeLessThanOrEqual(app.ctx.now().getTime() + 300_000)
    expect(await register()).toEqual([401, { message: 'An agent has registered with this token already.' }])
    await app.db.updateTable('hosted_agents').set({ token_expires_at: app.ctx.now().toISOString() }).execute()
    expect(await register()).toEqual([401, { message: 'The token of the hosted agent has expired.' }])
    release()
    await untilEnded(app, build)
    await untilQuiet(app)
  })

  it('gives no access to other jobs', async () => {
    const world = await aHostedWorld(app)
    let stolen: number | undefined
    const [mine, theirs] = [aPause('mine'), aPause('theirs')]
    const pipeline = await aHostedPipeline(app, world, '[{ command: mine }, { command: theirs }]')
    const pause = commands['mine']
    const other = { id: '' }
    commands['mine'] = async (run, process) => {
      const status = (await pause?.(run, process)) ?? 1
      stolen = (await run.agent.call('PUT', `jobs/${other.id}/acquire`)).status
      return status
    }
    const build = await aBuild(app, world.org, pipeline)
    await Promise.all([mine.started, theirs.started])
    other.id = await jobNamed(app, build, 'theirs')
    mine.release()
    await inTime('the first has ended', async () => (await statesOf(app, build))['mine'] === 'passed')
    expect(stolen).toBe(422)
    theirs.release()
    expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
  })
})

describe('a hosted queue', () => {
  it('accepts no self-hosted agents', async () => {
    const world = await aHostedWorld(app)
    const made = await app.request('POST', `${world.cluster.path}/tokens`, {
      token: world.admin.token,
      body: { description: 'for agents' },
    })
    const token = String(made.body.token)
    await expect(anAgent(app, token, { tags: ['queue=default'] })).rejects.toThrow('is hosted')
  })
})

describe('reconcile', () => {
  it('deletes containers and volumes without a row', async () => {
    const id = newId()
    await app.ctx.hosted?.startContainer({
      id,
      clusterId: id,
      image: 'base:1',
      command: ['sleep', '600'],
      environment: {},
      limits: { cpus: 1, memoryMb: 64, processes: 10 },
      mounts: [],
    })
    await app.ctx.hosted?.attachVolume({ id: 'vol-orphan', clusterId: id, from: null, sizeMb: 1 })
    await reconcile(app.ctx)
    expect([await app.ctx.hosted?.listContainers(), await app.ctx.hosted?.listVolumes()]).toEqual([[], []])
  })

  it('deletes containers whose queue was deleted', async () => {
    const world = await aHostedWorld(app)
    const { started } = aPause('orphan')
    const build = await aBuild(app, world.org, await aHostedPipeline(app, world, '[{ command: orphan }]'))
    await started
    await app.db.deleteFrom('cluster_queues').where('id', '=', world.queue.id).execute()
    await reconcile(app.ctx)
    expect(engine.containers('hosted')).toEqual([])
    await untilQuiet(app)
    await applyEvent(app, build, { type: 'cancel_build', reason: '' })
  })
})

describe('hosted_git_mirror_enabled', () => {
  const mirrors = () => app.db.selectFrom('git_mirrors').selectAll().execute()

  it('lets jobs read mirrors that a separate container updates', async () => {
    const world = await aHostedWorld(app)
    const { token } = world.admin
    await app.request('PUT', world.cluster.path, { token, body: { hosted_git_mirror_enabled: true } })
    const { started, release } = aPause('mirrored')
    const pipeline = await aHostedPipeline(app, world, '[{ command: mirrored }]')
    const build = await aBuild(app, world.org, pipeline)
    await started
    expect(engine.containers('hosted')).toMatchObject([{ mounts: [{ kind: 'git_mirror', readOnly: true }] }])
    const [mirror] = await mirrors()
    const update = () => updateMirror(app.ctx, { git_mirror_id: mirror?.id ?? '' })
    await update()
    expect(engine.containers('hosted')).toMatchObject([
      { mounts: [{ readOnly: true }] },
      { mounts: [{ kind: 'git_mirror', readOnly: false }] },
    ])
    // No second one is started meanwhile.
    await update()
    expect(engine.containers('hosted')).toHaveLength(2)
    await inTime('the mirror exists', async () => {
      await reconcile(app.ctx)
      return (await mirrors()).some(({ updated_at }) => updated_at !== null)
    })
    release()
    expect(await untilEnded(app, build)).toBe('passed')
    await untilQuiet(app)
    commands['look'] = async (_, { readFile }) => (readFile('/var/lib/millrace/mirrors/mirror') ? 0 : 1)
    expect(await runBuild(app, world, await aHostedPipeline(app, world, '[{ command: look }]'))).toBe(
      'passed',
    )
    await untilQuiet(app)
    await app.request('PUT', world.cluster.path, { token, body: { hosted_git_mirror_enabled: false } })
  })

  it('is corrected in the engine if it differs twice in a row', async () => {
    const lost = newId()
    await app.ctx.hosted?.setGitMirror(lost, true)
    const look = sharedVolumeReconciler()
    const isThere = async () =>
      (await app.ctx.hosted?.listSharedVolumes())?.some(({ clusterId }) => clusterId === lost) ?? false
    await look(app.ctx)
    expect(await isThere()).toBe(true)
    await look(app.ctx)
    expect(await isThere()).toBe(false)
  })
})
