// What is said about waiting jobs costs the same statements whatever their number. They are counted by the spans of the requests.
import { describe, expect, it, onTestFinished } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../../test/agent-client.ts'
import { startApp, type TestApp } from '../../../../test/app.ts'
import { aPipeline } from '../../../../test/builders.ts'
import { read, spansOf } from '../../../../test/remote-hosts/otlp.ts'
import { aReceiver } from '../../../../test/remote-hosts/receiver.ts'
import { aBuild, jobsOf } from '../../../../test/runs.ts'
import { otlpTracer } from '../../../lib/otlp-tracer.ts'

interface Scene {
  app: TestApp
  world: AgentWorld
  /** The number of statements of each request, by its id. Ends the server. */
  countStatements(): Promise<Map<string, number>>
}

async function aScene(): Promise<Scene> {
  const collector = await aReceiver()
  onTestFinished(() => collector.close())
  const settings = {
    url: `${new URL(collector.url).origin}/v1/traces`,
    headers: {},
    sample: 1,
    everyMs: 50,
    resource: {},
  }
  const tracer = otlpTracer(settings, () => {})
  const app = await startApp({ tracer, env: { MILLRACE_PING_HOLD_SECONDS: '0' } })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= app.close())
  onTestFinished(close)
  return {
    app,
    world: await anAgentWorld(app),
    async countStatements() {
      await close()
      await tracer.stop()
      const spans = spansOf(collector.received).map(({ traceId, attributes }) => ({
        traceId,
        said: read(attributes),
      }))
      const requests = new Map(spans.map((span) => [span.said['millrace.request.id'], span.traceId]))
      return new Map(
        [...requests].flatMap(([id, traceId]) => {
          if (id === undefined) return []
          const own = spans.filter((span) => span.traceId === traceId && 'db.query.summary' in span.said)
          const statements = own.map((span) => Number(span.said['db.operation.batch.size'] ?? 1))
          return [[String(id), statements.reduce((sum, count) => sum + count, 0)] as const]
        }),
      )
    },
  }
}

const [few, many] = [10, 1000]

describe('the number of statements that ask for waiting jobs', () => {
  it.each([
    ['of a queue', { fair_by: 'none' }, ''],
    ['of a fair queue', { fair_by: 'creator', machine_limit_percent: 50 }, ''],
    ['of a concurrency group', { fair_by: 'none' }, ', concurrency: 1, concurrency_group: deploy'],
  ])('%s does not depend on how many wait', async (_where, settings, grouping) => {
    const { app, world, countStatements } = await aScene()
    const { org, admin, queue, token } = world
    const get = async (path: string, id: string) => {
      const answer = await app.request('GET', path, { token: admin.token, headers: { 'x-request-id': id } })
      expect(answer.status).toBe(200)
      return answer
    }
    const changed = await app.request('PATCH', queue.path, { token: admin.token, body: settings })
    expect(changed.status).toBe(200)
    // Its agent is busy.
    await aBuild(app, org, await aPipeline(app, org, '[{command: a}]'))
    await (await anAgent(app, token)).begin()
    for (const count of [few, many]) {
      const steps = `[{command: a, parallelism: ${count - 1}${grouping}}, {command: b, key: last${grouping}}]`
      const build = await aBuild(app, org, await aPipeline(app, org, steps))
      const jobs = await jobsOf(app, build)
      const last = jobs.at(-1)?.id ?? ''
      // What a first request finds out once is not counted.
      for (const id of ['first', `list-${count}`]) await get(`${queue.path}/jobs?per_page=100`, id)
      for (const id of ['first', `job-${count}`]) await get(`${org.path}/jobs/${last}/waiting`, id)
    }
    const counted = await countStatements()
    for (const what of ['list', 'job']) {
      expect(counted.get(`${what}-${few}`)).toBeGreaterThan(3)
      expect(counted.get(`${what}-${many}`)).toBe(counted.get(`${what}-${few}`))
    }
  })
})
