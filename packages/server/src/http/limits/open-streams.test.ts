// Abuse case R35: streams that go on after their caller has lost access, and more of them than a server can hold.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually, untilBlocked, useOwnApp } from '../../../test/app.ts'
import { aMember, aTeam, aToken, inTeam, type TestUser } from '../../../test/builders.ts'
import { openStream } from '../../../test/event-stream.ts'
import { aRunningJob, sendLog, type RunningScene } from '../../../test/job-runs.ts'
import { aSession } from '../../../test/sessions.ts'
import { slices } from '../../app.ts'
import { endSession } from '../../auth/sessions.ts'
import { openStreams } from './open-streams.ts'

const app = useOwnApp()
const small = useOwnApp({ env: { MILLRACE_STREAMS_USER: '2', MILLRACE_STREAMS_ORGANIZATION: '3' } })

const counted = useOwnApp({ env: { MILLRACE_RATE_LIMIT: 'on' } })

const routes = Object.values(slices).flat()
const endless = routes.filter(({ mayFollow }) => mayFollow !== null).map(({ url }) => url)

const job = (scene: RunningScene) => [`${scene.short}/log/stream`, `${scene.short}/log/stream?as=rows`]

/** The streams of each route. `team`: they show one pipeline, so they end with the team's access to it. */
const streamsOf: Record<string, { team: boolean; paths(scene: RunningScene): string[] }> = {
  '/v2/organizations/:org/events': { team: false, paths: ({ org }) => [`${org.path}/events`] },
  '/v2/organizations/:org/jobs/:job/log/stream': { team: true, paths: job },
  '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/log/stream': {
    team: true,
    paths: ({ long }) => [`${long}/log/stream`, `${long}/log/stream?as=rows`],
  },
}

/** A search ends when nothing is left to search, and asks in every statement what the caller may read. */
const endingByThemselves = ['/v2/organizations/:org/log-search/stream']

interface Loss {
  name: string
  team: boolean
  /** Returns the headers of a caller, and a function that takes the caller's access away. */
  prepare(scene: RunningScene, member: TestUser): Promise<{ headers: object; lose: () => Promise<unknown> }>
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A member of a team that may read the pipeline, in an organization where teams decide. */
async function throughTeam({ org, admin, pipeline }: RunningScene, member: TestUser) {
  const asAdmin = async (method: string, path: string, body: object = {}) => {
    const { status, text } = await app.request(method, path, { token: admin.token, body })
    if (status >= 300) throw new Error(`${method} ${path}: ${text}`)
  }
  const team = await aTeam(app, org, admin)
  await inTeam(app, team, admin, member)
  await asAdmin('POST', `${org.path}/teams/enable`)
  await asAdmin('POST', `${team.path}/pipelines`, { pipeline_id: pipeline.id, access_level: 'read_only' })
  return { asAdmin, team }
}

const losses: readonly Loss[] = [
  {
    name: 'its token is revoked',
    team: false,
    async prepare(_, member) {
      const token = await aToken(app, member)
      const lose = () => app.request('DELETE', '/v2/access-token', { token })
      return { headers: bearer(token), lose }
    },
  },
  {
    name: 'its session ends',
    team: false,
    async prepare(_, member) {
      const session = await aSession(app, member)
      const lose = () => endSession(app.db, session.Cookie.split('=')[1] ?? '')
      return { headers: session, lose }
    },
  },
  {
    name: 'its user is no member any more',
    team: false,
    prepare: async ({ org, admin }, member) => ({
      headers: bearer(member.token),
      lose: () => app.request('DELETE', `${org.path}/members/${member.id}`, { token: admin.token }),
    }),
  },
  {
    name: 'its user leaves the team',
    team: true,
    async prepare(scene, member) {
      const { team, asAdmin } = await throughTeam(scene, member)
      const lose = () => asAdmin('DELETE', `${team.path}/members/${member.id}`)
      return { headers: bearer(member.token), lose }
    },
  },
  {
    name: 'the team loses the pipeline',
    team: true,
    async prepare(scene, member) {
      const { team, asAdmin } = await throughTeam(scene, member)
      const lose = () => asAdmin('DELETE', `${team.path}/pipelines/${scene.pipeline.id}`)
      return { headers: bearer(member.token), lose }
    },
  },
  {
    name: 'the pipeline is not public any more',
    team: true,
    async prepare({ org, admin, pipeline }, member) {
      const change = (visibility: string) =>
        app.request('PATCH', pipeline.path, { token: admin.token, body: { visibility } })
      const setting = `${org.path}/pipeline-settings/public-pipelines`
      await app.request('PUT', setting, { token: admin.token })
      await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
      await change('public')
      return { headers: bearer(member.token), lose: () => change('private') }
    },
  },
]

describe('a stream that does not end by itself', () => {
  it('is declared by its route, and is known here', () => {
    const answering = routes.filter(
      ({ answers }) => Reflect.get(answers[200] ?? {}, 'contentMediaType') === 'text/event-stream',
    )
    expect(endless.toSorted()).toEqual(answering.map(({ url }) => url).toSorted())
    expect(endless.toSorted()).toEqual([...Object.keys(streamsOf), ...endingByThemselves].toSorted())
  })

  it.each(losses)('ends when $name', async ({ team, prepare }) => {
    const scene = await aRunningJob(app)
    await sendLog(app, scene.run, 'one\n')
    const member = await aMember(app, scene.org)
    const { headers, lose } = await prepare(scene, member)
    const paths = Object.values(streamsOf)
      .filter((route) => route.team || !team)
      .flatMap((route) => route.paths(scene))
    const open = (sent: object) =>
      Promise.all(paths.map((path) => openStream(app, path, null, sent as Record<string, string>)))
    const [streams, kept] = [await open(headers), await open(bearer(scene.admin.token))]
    expect([...streams, ...kept].map(({ status }) => status)).toEqual(Array(2 * paths.length).fill(200))
    for (const stream of [...streams, ...kept]) await stream.until('a first message', () => true)
    await lose()
    await eventually('the streams end', async () => streams.every((stream) => stream.ended()))
    expect(kept.filter((stream) => stream.ended())).toEqual([])
  })

  it('is limited in number for a user and an organization, and counts until it ends', async () => {
    const scene = await aRunningJob(small)
    const { admin, org } = scene
    const member = await aMember(small, org)
    const paths = Object.values(streamsOf).flatMap((route) => route.paths(scene))
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    const [first = '', second = '', third = ''] = paths
    const open = async (path: string, token: string, signal?: AbortSignal) =>
      fetch(small.address + path, { headers: bearer(token), ...(signal && { signal }) })
    for (const path of [first, second])
      expect((await open(path, admin.token, leaving.signal)).status).toBe(200)
    const refused = await open(third, admin.token)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
    expect(await refused.json()).toMatchObject({
      message: expect.stringContaining('You have 2 streams open'),
    })
    const stays = new AbortController()
    onTestFinished(() => stays.abort())
    expect((await open(first, member.token, stays.signal)).status).toBe(200)
    const full = await open(second, member.token)
    expect(await full.json()).toMatchObject({
      message: expect.stringContaining('organization has 3 streams'),
    })
    leaving.abort()
    await eventually('the streams have ended', async () => openStreams(small.ctx).endless.held === 1)
    expect((await open(third, admin.token, stays.signal)).status).toBe(200)
  })
})

describe('a stream whose client goes while the caller is looked up', () => {
  it('does not count', async () => {
    const scene = await aRunningJob(counted)
    const client = await counted.database.pool.connect()
    await client.query('begin')
    await client.query('lock table rate_limits in access exclusive mode')
    const leaving = new AbortController()
    const headers = bearer(scene.admin.token)
    const asked = fetch(`${counted.address}${scene.org.path}/events`, { headers, signal: leaving.signal })
    await untilBlocked(counted)
    leaving.abort()
    await expect(asked).rejects.toThrow('aborted')
    // The server reads the end of the connection before this.
    await counted.request('GET', '/healthz')
    await client.query('rollback')
    client.release()
    expect((await counted.request('GET', '/v2/user', { token: scene.admin.token })).status).toBe(200)
    await eventually('nothing is held', async () => openStreams(counted.ctx).endless.held === 0)
  })
})

describe('what is streamed at all', () => {
  it('is watched by http/rest.ts, or listed here with what ends it', () => {
    const source = join(import.meta.dirname, '../..')
    const files = readdirSync(source, { recursive: true })
      .map(String)
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    const answering = files.filter((path) =>
      /\bhijack\(|\braw\.write(Head)?\(|\bsendAnswer\(|reply\.send\(\w*[sS]tream/.test(
        readFileSync(join(source, path), 'utf8'),
      ),
    )
    expect(answering.toSorted()).toEqual(
      [
        // The ping streams of agents: the end of the agent's session wakes them (agent-api/agents/pings.ts), and they last 50 s.
        'agent-api/endpoints.ts',
        // Downloads with a ticket, which end with the file.
        'agent-api/caches/cache-blobs.ts',
        // Declares it.
        'http/answer.ts',
        'http/rest.ts',
      ].toSorted(),
    )
  })
})
