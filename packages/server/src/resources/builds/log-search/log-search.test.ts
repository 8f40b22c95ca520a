import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { anAgentWorld, type AgentWorld } from '../../../../test/agent-client.ts'
import { baseUrl, useApp, type Json } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization } from '../../../../test/builders.ts'
import {
  aRunningJob,
  compactLogs,
  endLongAgo,
  sendChunk,
  sendLog,
  type RunningScene,
} from '../../../../test/job-runs.ts'
import { expireFindings } from '../log/findings/queries.ts'

const app = useApp()

let world: AgentWorld
beforeAll(async () => {
  world = await anAgentWorld(app)
})

type Query = Record<string, string>
interface Asked {
  token: string
  path: string
}

const asAdmin = (): Asked => ({ token: world.admin.token, path: world.org.path })

const ask = (query: Query, { token, path } = asAdmin()) =>
  app.request('GET', `${path}/log-search?${new URLSearchParams(query)}`, { token })

async function hitsOf(query: Query, asked = asAdmin()) {
  const { status, body } = await ask(query, asked)
  expect(status).toBe(200)
  expect(body.cursor).toBeNull()
  return (body.hits as unknown as Json[]).map((hit) => `#${String(hit.row)} ${String(hit.text)}`)
}

const both = ['failures', 'logs'] as const

/** A job that has ended, with its log in the store. */
async function aLog(
  text: string,
  {
    exitStatus = 1,
    configuration,
    at = world,
  }: { exitStatus?: number; configuration?: string; at?: AgentWorld } = {},
): Promise<RunningScene> {
  const scene = await aRunningJob(app, configuration, at)
  await sendLog(app, scene.run, text)
  await endLongAgo(app, scene.run, exitStatus)
  await compactLogs(app.ctx)
  return scene
}

describe('GET /v2/organizations/{org.slug}/log-search', () => {
  it('finds a row of a failed job, and links to it', async () => {
    const scene = await aLog(
      '~~~ Setup\r\nok\r\n\x1b[31mError: the \x1b[1mquokka\x1b[0m escaped\r\nlast row\r\n',
    )
    for (const where of both) {
      const { body } = await ask({ q: 'QUOKKA escaped', in: where })
      const page = `${baseUrl}/${scene.org.slug}/${scene.pipeline.slug}/builds/${scene.build.number}`
      expect(body.hits).toEqual([
        {
          build: expect.objectContaining({
            number: scene.build.number,
            pipeline_slug: scene.pipeline.slug,
            web_url: page,
          }),
          job: {
            id: scene.run.id,
            name: 'Tests',
            step_key: 'tests',
            state: 'failed',
            web_url: `${page}#${scene.run.id}`,
          },
          kind: 'log',
          row: 3,
          annotation: null,
          test: null,
          text: 'Error: the quokka escaped',
          start: 11,
          end: 25,
          web_url: `${page}#${scene.run.id}/L3`,
        },
      ])
      expect(body.progress.searched).toBe(body.progress.total)
    }
  })

  it('finds rows of passed and running jobs only in whole logs', async () => {
    await aLog('the tapir has passed\r\n', { exitStatus: 0 })
    const running = await aRunningJob(app, undefined, world)
    await sendLog(app, running.run, 'the tapir still runs\r\nunfinished tapir')
    expect(await hitsOf({ q: 'tapir' })).toEqual([])
    expect(await hitsOf({ q: 'tapir', in: 'logs' })).toEqual([
      '#1 the tapir still runs',
      '#2 unfinished tapir',
      '#1 the tapir has passed',
    ])
    await running.run.finish(0)
  })

  it('takes regular expressions and cases', async () => {
    await aLog('Wombat 12 and wombat 345\r\nWOMBAT\r\n')
    for (const where of both) {
      const find = (q: string, more: Query = {}) => hitsOf({ q, in: where, ...more })
      expect(await find('wombat \\d{3}', { regex: 'true' })).toEqual(['#1 Wombat 12 and wombat 345'])
      expect(await find('wombat \\d{3}')).toEqual([])
      expect(await find('WOMBAT', { case: 'true' })).toEqual(['#2 WOMBAT'])
      expect(await find('^(?i)wombat$', { regex: 'true' })).toEqual(['#2 WOMBAT'])
      expect(await find('bandicoot|wombat$', { regex: 'true' })).toEqual(['#2 WOMBAT'])
    }
  })

  it('narrows by pipeline, branch, state, step and time', async () => {
    const scene = await aLog('numbat on the road\r\n')
    const { created_at: created } = await app.db
      .selectFrom('builds')
      .select(['created_at', 'branch'])
      .where('id', '=', scene.build.id)
      .executeTakeFirstOrThrow()
    const later = new Date(Date.parse(created) + 1000).toISOString()
    const matching: Query[] = [
      { pipeline: scene.pipeline.slug },
      { branch: 'main' },
      { state: 'failed' },
      { step: 'tests' },
      { step: 'Tests' },
      { from: created, to: later },
    ]
    const others: Query[] = [
      { pipeline: 'none' },
      { branch: 'other' },
      { state: 'passed' },
      { step: 'deploy' },
      { to: created },
      { from: later },
    ]
    for (const where of both) {
      for (const filter of matching)
        expect([filter, await hitsOf({ q: 'numbat', in: where, ...filter })]).toEqual([
          filter,
          ['#1 numbat on the road'],
        ])
      for (const filter of others)
        expect([filter, await hitsOf({ q: 'numbat', in: where, ...filter })]).toEqual([filter, []])
    }
  })

  it('goes on after a cursor, and misses and repeats nothing', async () => {
    const at = await anAgentWorld(app)
    for (const name of ['one', 'two', 'three', 'four', 'five']) await aLog(`potoroo ${name}\r\n`, { at })
    const asked = { token: at.admin.token, path: at.org.path }
    for (const where of both) {
      const texts: unknown[] = []
      let cursor: string | undefined
      do {
        const { body } = await ask(
          { q: 'potoroo', in: where, limit: '2', ...(cursor ? { cursor } : {}) },
          asked,
        )
        expect(body.hits.length).toBeLessThanOrEqual(2)
        texts.push(...(body.hits as unknown as Json[]).map(({ text }) => text))
        cursor = (body.cursor as unknown as string | null) ?? undefined
      } while (cursor !== undefined)
      expect(texts).toEqual(['five', 'four', 'three', 'two', 'one'].map((name) => `potoroo ${name}`))
    }
  })

  it('refuses what is no query, no expression and no cursor of its own', async () => {
    const refused = await Promise.all(
      [
        {},
        { q: 'a' },
        { q: 'a('.repeat(20), regex: 'true' },
        { q: 'ab', cursor: 'ab' },
        { q: 'ab', in: 'all' },
      ].map((query) => ask(query as Query)),
    )
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400])
  })

  it('bounds expressions that explode', async () => {
    await aLog(`${'a'.repeat(30_000)}!\r\nthe end\r\n`)
    for (const where of both) {
      for (const q of ['(a+)+$', '(a|aa)*b', '((a{1,50}){1,50}){1,50}x', '(?:.*.*.*.*.*)*=']) {
        const { status, body } = await ask({ q, regex: 'true', in: where })
        // Nothing is left, or it is refused.
        expect([q, status === 400 ? null : body.cursor]).toEqual([q, null])
      }
    }
  })

  it('folds an endless line as the log does', async () => {
    const scene = await aRunningJob(app, undefined, world)
    const long = 'x'.repeat(4_000_000)
    const parts = [
      `first bilby\r\nthe long bilby ${long}`,
      long,
      `${long}\r\nlast bilby ${'y'.repeat(2_000_000)}\r\n`,
    ]
    let offset = 0
    for (const [index, text] of parts.entries()) {
      const answer = await sendChunk(app, scene.run, { sequence: index + 1, offset, text })
      expect(answer.status).toBe(200)
      offset += text.length
    }
    await endLongAgo(app, scene.run, 1)
    await compactLogs(app.ctx)
    const { body } = await ask({ q: 'bilby', in: 'logs' })
    expect((body.hits as unknown as Json[]).map(({ text }) => String(text).slice(0, 14))).toEqual([
      'first bilby',
      'the long bilby',
      'last bilby yyy',
    ])
  })
})

describe('what failed jobs said, of very many', () => {
  it('is found however far back, with an index and without', async () => {
    const at = await anAgentWorld(app)
    const scene = await aLog('the oldest quokka-7f\r\n', { at })
    // As if a thousand other jobs had failed since.
    await sql`
      with made as (
        insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'agent_id', null,
          'position', n::text))).* from jobs j, generate_series(1, 1000) n where j.id = ${scene.run.id} returning id)
      insert into log_findings (job_id, organization_id, pipeline_id, build_id, finished_at, text, rows)
      select made.id, f.organization_id, f.pipeline_id, f.build_id, f.finished_at + interval '1 second', 'another', '{1}'
      from made, log_findings f where f.job_id = ${scene.run.id}`.execute(app.db)
    const asked = { token: at.admin.token, path: at.org.path }
    expect(await hitsOf({ q: 'oldest quokka' }, asked)).toEqual(['#1 the oldest quokka-7f'])
    expect(await hitsOf({ q: '-7|-8', regex: 'true' }, asked)).toEqual(['#1 the oldest quokka-7f'])
    expect(await hitsOf({ q: 'a-' }, asked)).toEqual(['#1 the oldest quokka-7f'])
  })
})

describe('what others may not find', () => {
  it('is of pipelines that the caller may not read, nor are there counts of them', async () => {
    const at = await anAgentWorld(app)
    const scene = await aLog('the secret kowari\r\n', { at })
    await app.db
      .updateTable('pipelines')
      .set({ visibility: 'private' })
      .where('id', '=', scene.pipeline.id)
      .execute()
    const member = await aMember(app, at.org)
    await app.request('POST', `${at.org.path}/teams/enable`, { token: at.admin.token })
    for (const where of both) {
      const { status, body } = await ask(
        { q: 'kowari', in: where },
        { token: member.token, path: at.org.path },
      )
      expect(status).toBe(200)
      expect(body).toEqual({
        hits: [],
        progress: { searched: 0, total: 0, is_total_exact: true },
        cursor: null,
      })
    }
  })

  it('is of another organization', async () => {
    await aLog('the distant dunnart\r\n')
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    for (const where of both)
      expect(await hitsOf({ q: 'dunnart', in: where }, { token: admin.token, path: org.path })).toEqual([])
  })

  it('is of another organization that searches for the same at the same time', async () => {
    const worlds = [world, await anAgentWorld(app)]
    for (const [index, at] of worlds.entries()) {
      for (let job = 0; job < 3; job++) await aLog(`the shared phascogale of ${index}\r\n`, { at })
    }
    const searches = Array.from({ length: 12 }, (_, n) => ({ n: n % 2, where: both[n % 3 === 0 ? 0 : 1] }))
    const found = await Promise.all(
      searches.map(async ({ n, where }) => {
        const { admin, org } = worlds[n] ?? world
        return hitsOf({ q: 'phascogale', in: where }, { token: admin.token, path: org.path })
      }),
    )
    expect(found).toEqual(searches.map(({ n }) => Array(3).fill(`#1 the shared phascogale of ${n}`)))
  })

  it('is in deleted logs and builds', async () => {
    const [one, other] = [await aLog('first quoll\r\n'), await aLog('second quoll\r\n')]
    await app.request('DELETE', `${one.long}/log`, { token: world.admin.token })
    for (const where of both) expect(await hitsOf({ q: 'quoll', in: where })).toEqual(['#1 second quoll'])
    await app.db.deleteFrom('builds').where('id', '=', other.build.id).execute()
    for (const where of both) expect(await hitsOf({ q: 'quoll', in: where })).toEqual([])
    const left = await app.db
      .selectFrom('log_findings')
      .select('job_id')
      .where('job_id', 'in', [one.run.id, other.run.id])
      .execute()
    expect(left).toEqual([])
  })

  it('ends after its days where failures are searched', async () => {
    await aLog('old chuditch\r\n')
    const days = 30
    await expireFindings(app.db, new Date(Date.now() + (days - 1) * 86_400_000), days)
    expect(await hitsOf({ q: 'chuditch' })).toHaveLength(1)
    await expireFindings(app.db, new Date(Date.now() + (days + 1) * 86_400_000), days)
    expect(await hitsOf({ q: 'chuditch' })).toEqual([])
    expect(await hitsOf({ q: 'chuditch', in: 'logs' })).toEqual(['#1 old chuditch'])
  })
})

describe('GET /v2/organizations/{org.slug}/log-search/stream', () => {
  const stream = async (query: Query) => {
    const response = await fetch(
      `${app.address}${world.org.path}/log-search/stream?${new URLSearchParams(query)}`,
      { headers: { Authorization: `Bearer ${world.admin.token}` } },
    )
    return { status: response.status, text: await response.text() }
  }

  it('sends hits as they are found, and how far the search came', async () => {
    const scene = await aLog('a streaming antechinus\r\n')
    for (const where of both) {
      const { status, text } = await stream({ q: 'antechinus', in: where })
      expect(status).toBe(200)
      const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, name, data = '']) => ({
        name,
        data: JSON.parse(data) as { text?: string; job?: { id: string }; cursor?: string | null },
      }))
      expect(events[0]?.name).toBe('progress')
      expect(events.filter(({ name }) => name === 'hit')).toEqual([
        { name: 'hit', data: expect.objectContaining({ text: 'a streaming antechinus' }) },
      ])
      expect(events.find(({ name }) => name === 'hit')?.data.job?.id).toBe(scene.run.id)
      expect(events.at(-1)).toMatchObject({ name: 'end', data: { cursor: null } })
    }
  })

  it('refuses a wrong expression before it begins', async () => {
    expect((await stream({ q: 'a(b', regex: 'true' })).status).toBe(400)
  })
})
