// Traces of the server itself, as a collector receives them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { anAgent, anAgentWorld } from '../../test/agent-client.ts'
import { startApp, type TestApp } from '../../test/app.ts'
import { anAdmin, anOrganization, aPipeline } from '../../test/builders.ts'
import { decode, hex, read, spansOf, type OtlpSpan } from '../../test/remote-hosts/otlp.ts'
import { aReceiver, type Answering, type Receiver } from '../../test/remote-hosts/receiver.ts'
import { aBuild, runJob } from '../../test/runs.ts'
import { enqueue } from '../tasks/enqueue.ts'
import { runTasks } from '../tasks/run.ts'
import { aroundTasks, handlers, startNotifications } from '../worker.ts'
import { eventually } from '../../test/eventually.ts'
import { otlpTracer, type TraceSettings } from './otlp-tracer.ts'
import type { Tracer } from './tracing.ts'

interface Scene {
  collector: Receiver
  tracer: Tracer
  reports: Array<string | null>
  /** Sends what there is, and returns all spans. */
  flush(): Promise<OtlpSpan[]>
}

async function aTracer(
  given: Partial<TraceSettings> = {},
  answering: Answering | null = null,
): Promise<Scene> {
  const collector = await aReceiver(answering)
  onTestFinished(() => collector.close())
  const reports: Array<string | null> = []
  const settings = {
    url: `${new URL(collector.url).origin}/v1/traces`,
    headers: { authorization: 'Bearer collector' },
    sample: 1,
    everyMs: 50,
    resource: { 'service.name': 'millrace' },
    ...given,
  }
  const tracer = otlpTracer(settings, (reason) => reports.push(reason))
  const flush = async () => {
    await tracer.stop()
    return spansOf(collector.received)
  }
  return { collector, tracer, reports, flush }
}

async function aTracedApp(given: Partial<TraceSettings> = {}): Promise<Scene & { app: TestApp }> {
  const scene = await aTracer(given)
  const env = { MILLRACE_PING_HOLD_SECONDS: '0', MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' }
  const app = await startApp({ tracer: scene.tracer, env })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= app.close())
  onTestFinished(close)
  // A span ends a moment after the caller has its answer.
  const flush = async () => {
    await close()
    return scene.flush()
  }
  return { ...scene, app, flush }
}

const named = (spans: readonly OtlpSpan[], name: string | RegExp) =>
  spans.filter((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)))
const childrenOf = (spans: readonly OtlpSpan[], parent: OtlpSpan | undefined) =>
  spans.filter(({ parentSpanId }) => parentSpanId === parent?.spanId)

describe('a traced request', () => {
  it('is a span with its route, status and organization, around the spans of its statements', async () => {
    const { app, collector, flush } = await aTracedApp()
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const name = 'A name that no span may show'
    const path = `${org.path}/clusters`
    const headers = {
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'x-request-id': 'mine',
    }
    expect((await app.request('POST', path, { token: admin.token, body: { name }, headers })).status).toBe(
      201,
    )

    const spans = await flush()
    const [request] = named(spans, 'POST /v2/organizations/:org/clusters')
    expect(read(request?.attributes ?? [])).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v2/organizations/:org/clusters',
      'http.response.status_code': 201,
      'millrace.organization': org.slug,
      'millrace.request.id': 'mine',
    })
    expect([hex(request?.traceId ?? ''), hex(request?.parentSpanId ?? '')]).toEqual([
      '4bf92f3577b34da6a3ce929d0e0e4736',
      '00f067aa0ba902b7',
    ])
    const statements = childrenOf(spans, request)
    const summaries = statements.map(({ attributes }) => read(attributes)['db.query.summary'])
    expect(summaries.join()).toContain('INSERT clusters')
    expect(new Set(statements.map(({ traceId }) => traceId))).toEqual(new Set([request?.traceId]))
    expect(JSON.stringify(spans)).not.toContain(name)
    const [sent] = collector.received
    expect(sent?.headers).toMatchObject({
      authorization: 'Bearer collector',
      'content-type': 'application/x-protobuf',
    })
    expect(sent && read(decode(sent).resourceSpans[0]?.resource.attributes ?? [])).toMatchObject({
      'service.name': 'millrace',
    })
    const line = app.logLines.find((text) => text.includes('"request_id":"mine"')) ?? '{}'
    expect(JSON.parse(line)).toMatchObject({ trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' })
  })

  it('that fails is marked so, without the message of the error', async () => {
    const { app, flush } = await aTracedApp()
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    await app.database.pool.query('alter table clusters rename to gone')
    expect((await app.request('GET', `${org.path}/clusters`, { token: admin.token })).status).toBe(500)
    await app.database.pool.query('alter table gone rename to clusters')

    const spans = await flush()
    const [request] = named(spans, 'GET /v2/organizations/:org/clusters')
    expect(request?.status.code).toBe('STATUS_CODE_ERROR')
    const failed = childrenOf(spans, request).find(({ status }) => status.code === 'STATUS_CODE_ERROR')
    expect(read(failed?.attributes ?? [])).toMatchObject({ 'error.type': '42P01' })
    expect(JSON.stringify(spans)).not.toContain('does not exist')
  })

  it('shows no secret of a path, and probes make no span', async () => {
    const { app, flush } = await aTracedApp()
    await app.request('GET', '/badges/a-secret-of-a-path.svg')
    await app.request('GET', '/-/invitations/another-secret?code=third')
    for (const path of ['/healthz', '/readyz', '/metrics']) await app.request('GET', path)
    const spans = await flush()
    expect(spans.length).toBeGreaterThanOrEqual(2)
    expect(JSON.stringify(spans)).not.toMatch(/secret|third|healthz|readyz|metrics/)
  })

  it('is recorded as often as the setting says, unless its caller has decided', async () => {
    const { app, flush } = await aTracedApp({ sample: 0 })
    await app.request('GET', '/v2/meta')
    const [traceId, spanId] = ['1'.repeat(32), '2'.repeat(16)]
    await app.request('GET', '/v2/meta', { headers: { traceparent: `00-${traceId}-${spanId}-00` } })
    await app.request('GET', '/v2/meta', { headers: { traceparent: `00-${traceId}-${spanId}-01` } })
    await app.request('GET', '/v2/meta', { headers: { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` } })
    expect((await flush()).map((span) => hex(span.traceId))).toEqual([traceId])
  })
})

describe('traced work in the background', () => {
  it('is a span for each task, delivery and dispatch', async () => {
    const { app, flush } = await aTracedApp()
    const world = await anAgentWorld(app)
    const receiver = await aReceiver()
    onTestFinished(() => receiver.close())
    const settings = { url: receiver.url, events: ['build.finished'] }
    const service = { provider: 'webhook', settings }
    await app.request('POST', `${world.org.path}/services`, { token: world.admin.token, body: service })
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, world.token)
    const jobId = await agent.offered()
    await (await agent.accept(jobId ?? '')).start()
    const second = await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: two }]'))
    await runJob(app, second, 'two')
    const notifications = startNotifications(app.ctx)
    await eventually('the end of the build is delivered', async () => receiver.received.length >= 2)
    await notifications.stop()
    const options = { cron: {}, around: aroundTasks(app.ctx) }
    const tasks = await runTasks(app.database.pool, app.ctx.log, app.ctx, handlers, options)
    await enqueue(app.db, 'expire_rate_limits', {})
    await eventually('the task is done', async () => {
      const { rows } = await app.database.pool.query('select from graphile_worker.jobs')
      return rows.length === 0
    })
    await tasks.stop()

    const spans = await flush()
    const [dispatch] = named(spans, 'dispatch')
    expect(JSON.stringify(dispatch?.attributes)).toContain(jobId)
    expect(named(spans, 'deliver webhook')).toHaveLength(receiver.received.length)
    const [task] = named(spans, 'task expire_rate_limits')
    const inside = childrenOf(spans, task).map(({ name }) => name)
    expect(inside).toContain('SELECT rate_limits, failed_rows')
  })
})

describe('a collector that fails', () => {
  it('is reported once, and again when it is back; no work waits for it', async () => {
    let isDown = true
    const { tracer, reports, collector } = await aTracer({}, (response) => {
      response.statusCode = isDown ? 400 : 200
      response.end()
    })
    const end = async (name: string) => {
      tracer.start({ name, kind: 'internal', attributes: {} }).end()
      const before = collector.received.length
      await eventually(`${name} is sent`, async () => collector.received.length > before)
    }
    await end('first')
    await eventually('it is reported', async () => reports.length === 1)
    isDown = false
    await end('second')
    await eventually('it is back', async () => reports.length === 2)
    expect(reports).toEqual(['It answered 400.', null])
    await tracer.stop()
  })

  it('that asks for patience gets the same spans again', async () => {
    const { tracer, reports, collector } = await aTracer({}, (response, _received, n) => {
      response.statusCode = n === 0 ? 503 : 200
      response.end()
    })
    tracer.start({ name: 'patient', kind: 'internal', attributes: {} }).end()
    await tracer.stop()
    expect(spansOf(collector.received).map(({ name }) => name)).toEqual(['patient', 'patient'])
    expect(reports).toEqual([])
  })
})

describe('a span', () => {
  it('is the parent of everything that its work starts, also of work that runs at the same time', async () => {
    const { tracer, flush } = await aTracer()
    const { traced } = await import('./tracing.ts')
    const inner = (name: string) =>
      traced(tracer, { name, kind: 'internal', attributes: {} }, () => nextTurn())
    const outer = (name: string) =>
      traced(tracer, { name, kind: 'internal', attributes: {} }, async () => {
        await nextTurn()
        await inner(`${name} inner`)
      })
    await Promise.all([outer('a'), outer('b')])
    const spans = await flush()
    for (const name of ['a', 'b'])
      expect(childrenOf(spans, named(spans, name)[0]).map((span) => span.name)).toEqual([`${name} inner`])
  })
})
