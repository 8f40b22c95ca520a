import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually, useApp } from '../../../../test/app.ts'
import {
  anAdmin,
  anOrganization,
  aPipeline,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { openStream, type ShortJob } from '../../../../test/event-stream.ts'
import { aBuild, applyEvent, jobsOf, type TestBuild } from '../../../../test/runs.ts'
import { currentCursor } from './queries.ts'
import { LiveStreams } from './live-streams.ts'
import { usualLimits, type Limits } from './stream.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser

beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

const reauthorize = async () => {
  const found = await app.ctx.tokens.find(admin.token, org.slug)
  if (found === null) return null
  return {
    caller: { user: found.user, token: found, session: null, request: { ip: '', userAgent: null } },
    org: found.organization,
  }
}

function open(
  limits: Partial<Limits>,
  more: { buildIds?: string[]; after?: Awaited<ReturnType<typeof currentCursor>> } = {},
) {
  const streams = new LiveStreams(app.ctx, { ...usualLimits, ...limits })
  onTestFinished(() => streams.stop())
  const { buildIds = [], after = null } = more
  const { readable } = streams.open({
    organizationId: org.id,
    userId: admin.id,
    buildIds,
    after,
    reauthorize,
  })
  return { streams, readable }
}

function textOf(readable: Readable): () => string {
  let text = ''
  readable.on('data', (part: Buffer) => {
    text += part.toString()
  })
  return () => text
}

const change = (build: TestBuild) =>
  sql`
  insert into events (organization_id, build_id, kind, created_at)
  values (${org.id}, ${build.id}, 'build.changed', now())`.execute(app.db)

describe('the streams of a server', () => {
  it('show the final state to readers that begin with the graph at any moment, while many write', async () => {
    const configuration = `steps:
      - { command: a, retry: { automatic: { exit_status: 1, limit: 2 } } }
      - { command: b, parallelism: 3 }
      - wait
      - { command: c }`
    const pipeline = await aPipeline(app, org, configuration)
    const builds = await Promise.all(Array.from({ length: 4 }, () => aBuild(app, org, pipeline)))
    const graphOf = async (build: TestBuild) => {
      const path = `${pipeline.path}/builds/${build.number}/graph`
      const { body } = await app.request('GET', path, { token: admin.token })
      return { cursor: String(body.cursor), jobs: body.jobs as unknown as ShortJob[], build: body.build }
    }
    const reading: Array<Promise<{ build: TestBuild; end: () => Promise<void> }>> = []
    const beginReading = async (build: TestBuild) => {
      const start = await graphOf(build)
      const query = `?build=${build.id}&after=${encodeURIComponent(start.cursor)}`
      const stream = await openStream(app, `${org.path}/events${query}`, admin.token)
      return {
        build,
        async end() {
          const final = await graphOf(build)
          await eventually('the reader has the final state', async () => {
            const jobs = new Map(start.jobs.map((job) => [job[0], job]))
            let state = String(start.build?.state)
            for (const { data } of stream.messages) {
              for (const { job } of data.jobs ?? []) jobs.set(job[0] ?? '', job)
              for (const shown of data.builds ?? []) if (shown.id === build.id) state = shown.state
            }
            const asText = (all: Iterable<ShortJob>) => [...all].map((job) => JSON.stringify(job)).sort()
            return (
              JSON.stringify(asText(jobs.values())) === JSON.stringify(asText(final.jobs)) &&
              state === String(final.build?.state)
            )
          })
        },
      }
    }
    const write = async (build: TestBuild) => {
      for (let turn = 0; ; turn++) {
        const next = (await jobsOf(app, build)).find(({ state }) => state === 'scheduled')
        if (next === undefined) break
        // Readers begin while all builds change.
        const read = builds[(turn + build.number) % builds.length]
        if (read !== undefined) reading.push(beginReading(read))
        const end = { exitStatus: turn === 0 ? 1 : 0, signal: null, signalReason: null }
        for (const type of ['assign', 'accept', 'start'] as const)
          await applyEvent(app, build, { type, jobId: next.id })
        await applyEvent(app, build, { type: 'finish', jobId: next.id, ...end })
      }
    }
    await Promise.all(builds.map(write))
    expect(reading.length).toBeGreaterThan(builds.length)
    for (const { end } of await Promise.all(reading)) await end()
  })

  it('send at most so many resources in a message, whose cursor moves with the last one', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a, parallelism: 5 }]')
    const after = await currentCursor(app.db)
    const build = await aBuild(app, org, pipeline)
    const text = textOf(open({ mostInMessage: 2 }, { buildIds: [build.id], after }).readable)
    await eventually('all jobs', async () => text().split('"job":').length === 6)
    const ids = text().match(/^id: .*$/gm) ?? []
    expect(ids).toHaveLength(3)
    expect(ids.slice(0, 2)).toEqual([`id: ${after.text}`, `id: ${after.text}`])
    expect(ids[2]).not.toBe(ids[0])
  })

  it('send reset instead of more changes than they keep', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a, parallelism: 5 }]')
    const after = await currentCursor(app.db)
    const build = await aBuild(app, org, pipeline)
    const late = textOf(open({ mostPending: 3 }, { buildIds: [build.id], after }).readable)
    await eventually('reset', async () => late().includes('event: reset'))
    expect(late()).not.toContain('event: changes')
    await change(build)
    await eventually('later changes', async () => late().includes(`"id":"${build.id}"`))
  })

  it('drop a reader that does not drain its buffer in time', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
    const build = await aBuild(app, org, pipeline)
    const { readable } = open({ bufferBytes: 1000, drainMs: 200 })
    await eventually('the stream is destroyed', async () => {
      await change(build)
      return readable.destroyed
    })
    expect(readable.readableLength).toBeLessThan(10_000)
  })

  it('send a comment or the cursor while nothing happens', async () => {
    const text = textOf(open({ aliveMs: 50 }).readable)
    await eventually('a comment', async () => text().includes(': still there'))
    const { id } = await anOrganization(app)
    await sql`
      insert into events (organization_id, kind, created_at) values (${id}, 'queue.changed', now())`.execute(
      app.db,
    )
    await eventually('the cursor', async () => text().includes('data: {}'))
    expect(text()).toMatch(/^retry: 1000\n\nevent: hello\n/)
  })

  it('end after their time', async () => {
    const { readable } = open({ endsAfterMs: 100 })
    textOf(readable)
    await eventually('the end', async () => readable.closed)
    expect(readable.readableEnded).toBe(true)
  })
})
