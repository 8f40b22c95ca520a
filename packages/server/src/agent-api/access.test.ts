// Tests every route with every kind of token, and a job's token on objects of other jobs.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import {
  anAgent,
  anAgentWorld,
  call,
  segment,
  type AgentWorld,
  type TestRun,
} from '../../test/agent-client.ts'
import { aPipeline } from '../../test/builders.ts'
import { aBuild, jobNamed, type TestBuild } from '../../test/runs.ts'
import { agentApiRoutes } from '../app.ts'

const app = useApp()

let world: AgentWorld
let build: TestBuild
let run: TestRun
let sibling: string
let other: TestRun
let stranger: TestRun

async function aRun(given: AgentWorld, steps = '[{ command: one }]'): Promise<[TestBuild, TestRun]> {
  const made = await aBuild(app, given.org, await aPipeline(app, given.org, `steps: ${steps}`))
  return [made, await (await anAgent(app, given.token)).begin()]
}

beforeAll(async () => {
  world = await anAgentWorld(app)
  ;[build, run] = await aRun(world, '[{ command: one, key: one }, { command: two, agents: { os: none } }]')
  sibling = await jobNamed(app, build, 'two')
  ;[, other] = await aRun(world)
  ;[, stranger] = await aRun(await anAgentWorld(app))
})

const fill = (url: string, jobId: string) =>
  url
    .replace('/v3/', '')
    .replace(':job', jobId)
    .replace(':build', build.id)
    .replace(':step', 'one')
    .replace(':context', 'default')
    .replace(':upload', randomUUID())

/** Forged tokens of an existing job: with the code of another job, and with one digit changed. */
function forged(): string[] {
  const [withoutCode, code] = [run.token.slice(0, -32), other.token.slice(-32)]
  const lastDigit = run.token.endsWith('0') ? '1' : '0'
  return [withoutCode + code, run.token.slice(0, -1) + lastDigit]
}

const guarded = agentApiRoutes.filter(({ token, url }) => token !== 'none' && url.startsWith('/v3/'))
const named = guarded.map((route) => [`${route.method} ${route.url}`, route] as const)

describe('every route', () => {
  it.each(named)('%s refuses a missing token, and one of another kind', async (_, route) => {
    const tokens = { registration: world.token, session: run.agent.session, job: run.token }
    const kinds = {
      joining: ['registration'],
      ended_session: ['session'],
      ended_job: ['job'],
      session_or_job: ['session', 'job'],
      none: [],
    } as const
    const accepted: readonly string[] = kinds[route.token as keyof typeof kinds] ?? [route.token]
    const refused = Object.entries(tokens).filter(([kind]) => !accepted.includes(kind))
    for (const token of [null, 'mrjt_nonsense', ...forged(), ...refused.map(([, text]) => text)]) {
      const answer = await call(app, token, route.method, fill(route.url, run.id))
      expect([answer.status, Object.keys(answer.body)]).toEqual([401, ['message']])
    }
  })

  it.each(named.filter(([, { url }]) => url.startsWith('/v3/jobs/:job')))(
    '%s refuses the job of another build, whether it is of the same cluster, of another organization, or none at all',
    async (_, route) => {
      if (route.token === 'session') return
      for (const jobId of [other.id, stranger.id, randomUUID()]) {
        const answer = await run.call(route.method, fill(route.url, jobId))
        expect(answer.status).toBe(403)
      }
      expect((await run.call(route.method, fill(route.url, 'nonsense'))).status).toBe(404)
    },
  )

  it.each(
    named.filter(
      ([, route]) =>
        route.reach === 'job' && route.token.endsWith('job') && route.url.startsWith('/v3/jobs/:job'),
    ),
  )('%s refuses another job of the same build', async (_, route) => {
    expect((await run.call(route.method, fill(route.url, sibling))).status).toBe(403)
  })
})

describe('a job’s token', () => {
  it('reads the meta-data of builds in its cluster, and of no others', async () => {
    await other.call('POST', `jobs/${other.id}/data/set`, { body: { key: 'k', value: 'theirs' } })
    await stranger.call('POST', `jobs/${stranger.id}/data/set`, { body: { key: 'k', value: 'secret' } })
    const get = (of: TestRun) =>
      run.call('POST', `builds/${of.env.BUILDKITE_BUILD_ID}/data/get`, { body: { key: 'k' } })
    expect((await get(other)).body).toEqual({ key: 'k', value: 'theirs' })
    expect((await get(stranger)).status).toBe(404)
    expect((await run.call('POST', `builds/${randomUUID()}/data/keys`)).status).toBe(404)
    expect((await run.call('POST', 'builds/nonsense/data/keys')).status).toBe(404)
  })

  it('changes and cancels only its own build', async () => {
    for (const of of [other, stranger]) {
      const build_id = of.env.BUILDKITE_BUILD_ID
      const update = { idempotency_uuid: randomUUID(), build_id, attribute: 'label', value: 'x' }
      expect((await run.call('PUT', 'steps/one', { body: update })).status).toBe(403)
      expect((await run.call('POST', 'steps/one/cancel', { body: { build_id } })).status).toBe(403)
      expect((await run.call('POST', `builds/${build_id}/cancel`)).status).toBe(403)
    }
  })

  it('does not speak for another agent', async () => {
    expect((await other.agent.call('PUT', `jobs/${run.id}/accept`)).status).toBe(422)
    expect(
      (await call(app, other.token, 'PUT', `jobs/${run.id}/finish`, { body: { exit_status: '0' } })).status,
    ).toBe(403)
    expect(await run.state()).toBe('running')
  })

  it('is in no log line', async () => {
    await run.call('GET', `jobs/${run.id}`)
    const logged = app.logLines.join('\n')
    for (const token of [run.token, run.agent.session, world.token]) expect(logged).not.toContain(token)
  })
})

describe('paths', () => {
  it.each(['a.b/c', '50%', 'ä ö', '..', '%2F', 'a+b'])(
    'keep the annotation context %j whole',
    async (context) => {
      const annotate = { body: { body: 'text', context } }
      expect((await run.call('POST', `jobs/${run.id}/annotations`, annotate)).status).toBe(200)
      expect((await run.call('DELETE', `jobs/${run.id}/annotations/${segment(context)}`)).status).toBe(200)
      expect((await run.call('DELETE', `jobs/${run.id}/annotations/${segment(context)}`)).status).toBe(404)
    },
  )

  it('with a NUL character are refused', async () => {
    expect((await run.call('DELETE', `jobs/${run.id}/annotations/%00`)).status).toBe(400)
  })
})
