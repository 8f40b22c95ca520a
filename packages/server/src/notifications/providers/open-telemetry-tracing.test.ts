import { afterEach, describe, expect, it } from 'vitest'
import { aPipeline, withFeature, type TestOrganization, type TestUser } from '../../../test/builders.ts'
import { eventually } from '../../../test/app.ts'
import {
  decode,
  ExportTraceServiceResponse,
  hex,
  read,
  spansOf,
  type OtlpSpan,
} from '../../../test/remote-hosts/otlp.ts'
import { aReceiver, type Receiver } from '../../../test/remote-hosts/receiver.ts'
import { aBuild, jobNamed, runJob, applyEvent } from '../../../test/runs.ts'
import { useNotifications } from '../../../test/notifications.ts'

const notifications = useNotifications()
const { app, anOrg } = notifications

const receivers: Receiver[] = []
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
})

async function aTracer(org: TestOrganization, admin: TestUser, settings: object = {}) {
  const receiver = await aReceiver()
  receivers.push(receiver)
  const endpoint = new URL(receiver.url).origin
  const body = { provider: 'open_telemetry_tracing', settings: { endpoint, ...settings } }
  const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return { receiver, id: String(answer.body.id), path: `${org.path}/services/${answer.body.id}` }
}

const arrived = (receiver: Receiver, count: number) =>
  eventually(`${count} requests`, async () => receiver.received.length >= count)

describe('a tracing service', () => {
  it('is sent each build as one trace of build, stage, step and job spans', async () => {
    const { org, admin } = await anOrg()
    await withFeature(app, org, 'tracestate')
    const { receiver } = await aTracer(org, admin, {
      service_name: 'ci',
      headers: { Authorization: 'Bearer secret', 'Content-Type': 'text/plain' },
      resource_attributes: { 'deployment.environment': 'test', 'service.name': 'not this' },
      tracestate: 'vendor=value',
    })
    const pipeline = await aPipeline(
      app,
      org,
      'steps: [{command: turn, label: Turn, key: t}, {group: G, key: g, steps: [{command: grind}]}]',
    )
    const build = await aBuild(app, org, pipeline, { creatorId: admin.id, message: 'Ünïcode' })
    await runJob(app, build, 'turn')
    await runJob(app, build, 'grind', 3)
    await arrived(receiver, 1)
    const [request] = receiver.received
    if (request === undefined) throw new Error('Nothing came.')
    expect([request.method, request.path]).toEqual(['POST', '/v1/traces'])
    expect(request.headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      authorization: 'Bearer secret',
    })
    const [resource] = decode(request).resourceSpans
    expect(read(resource?.resource.attributes ?? [])).toEqual({
      'service.name': 'ci',
      'deployment.environment': 'test',
    })
    const spans = spansOf(receiver.received)
    expect(new Set(spans.map(({ traceId }) => hex(traceId)))).toEqual(new Set([build.id.replaceAll('-', '')]))
    expect(spans.every(({ traceState }) => traceState === 'vendor=value')).toBe(true)
    const names = new Map(spans.map(({ spanId, name }) => [spanId, name]))
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    expect(spans.map(({ name, parentSpanId }) => [name, names.get(parentSpanId) ?? null])).toEqual([
      ['build', null],
      ['build.stage', 'build'],
      ['step', 'build.stage'],
      ['job', 'step'],
      ['step.group', 'build.stage'],
      ['step', 'step.group'],
      ['job', 'step'],
    ])
    const [top, , turnStep, turn, , , grind] = spans
    expect(read(top?.attributes ?? [])).toMatchObject({
      'cicd.pipeline.run.id': build.id,
      'cicd.pipeline.result': 'failure',
      'vcs.ref.head.name': 'main',
      'millrace.build.number': build.number,
      'millrace.build.message': 'Ünïcode',
    })
    expect(top?.status.code).toBe('STATUS_CODE_ERROR')
    expect(read(turnStep?.attributes ?? [])).toMatchObject({ 'millrace.step.key': 't' })
    expect(turn?.status.code).toBe('STATUS_CODE_OK')
    expect(read(turn?.attributes ?? [])).toMatchObject({
      'cicd.pipeline.task.name': 'Turn',
      'millrace.job.exit_status': 0,
    })
    expect(grind?.status.code).toBe('STATUS_CODE_ERROR')
    expect(read(grind?.attributes ?? [])).toMatchObject({ 'millrace.job.exit_status': 3 })
    for (const { startTimeUnixNano: from, endTimeUnixNano: to } of spans) {
      expect(BigInt(from)).toBeGreaterThan(0n)
      expect(BigInt(to)).toBeGreaterThanOrEqual(BigInt(from))
    }
  })

  it('links a retry to the job it retries, and the builds of a trigger to each other', async () => {
    const { org, admin } = await anOrg()
    const { receiver } = await aTracer(org, admin)
    const child = await aPipeline(app, org, 'steps: [{command: below}]')
    const pipeline = await aPipeline(
      app,
      org,
      `steps: [{command: turn, retry: {automatic: true}}, wait, {trigger: ${child.slug}, async: true}]`,
    )
    const build = await aBuild(app, org, pipeline, { creatorId: admin.id })
    await runJob(app, build, 'turn', 1)
    const first = await app.db
      .selectFrom('jobs')
      .select('id')
      .where('build_id', '=', build.id)
      .where('retried_in_job_id', 'is not', null)
      .executeTakeFirstOrThrow()
    await runJob(app, build, 'turn')
    const below = await eventually('the triggered build', async () =>
      app.db
        .selectFrom('builds')
        .select(['id', 'number', 'organization_id as organizationId'])
        .where('pipeline_id', '=', child.id)
        .executeTakeFirst(),
    )
    await runJob(app, below, 'below')
    await arrived(receiver, 2)
    const spans = spansOf(receiver.received)
    const jobSpan = (id: string) =>
      spans.find(({ attributes }) => read(attributes)['cicd.pipeline.task.run.id'] === id)
    const rootSpan = (id: string) =>
      spans.find(
        ({ name, attributes }) => name === 'build' && read(attributes)['cicd.pipeline.run.id'] === id,
      )
    const linksOf = (span: OtlpSpan | undefined) =>
      span?.links.map(({ traceId, spanId, attributes }) => [
        read(attributes)['millrace.link.kind'],
        hex(traceId),
        spanId,
      ])
    const trace = ({ id }: { id: string }) => id.replaceAll('-', '')
    expect(linksOf(jobSpan(await jobNamed(app, build, 'turn')))).toEqual([
      ['retry_of', trace(build), jobSpan(first.id)?.spanId],
    ])
    const triggerId = await jobNamed(app, build, child.slug)
    expect(linksOf(jobSpan(triggerId))).toEqual([['triggered', trace(below), rootSpan(below.id)?.spanId]])
    expect(linksOf(rootSpan(below.id))).toEqual([['triggered_by', trace(build), jobSpan(triggerId)?.spanId]])
  })

  it.each([
    ['', async () => {}],
    [
      ' (the events of before are deleted)',
      ({ id }: { id: string }) => app.db.deleteFrom('events').where('build_id', '=', id).execute(),
    ],
  ])(
    'adds a stage to the trace each time a build continues, and sends no span twice%s',
    async (_, between) => {
      const { org, admin } = await anOrg()
      const { receiver } = await aTracer(org, admin)
      const pipeline = await aPipeline(app, org, 'steps: [{command: one}, {block: Go}, {command: two}]')
      const build = await aBuild(app, org, pipeline, { creatorId: admin.id })
      await runJob(app, build, 'one')
      await arrived(receiver, 1)
      await between(build)
      const jobId = await jobNamed(app, build, 'Go')
      const unblocked = await applyEvent(app, build, { type: 'unblock', jobId, by: admin.id, answers: {} })
      if (!unblocked.ok) throw new Error(unblocked.message)
      await runJob(app, build, 'two')
      await arrived(receiver, 2)
      const [before, after] = receiver.received.map((one) => spansOf([one]))
      const shown = (spans: OtlpSpan[] | undefined) =>
        spans?.map(({ name, attributes }) => {
          const { 'millrace.build.stage': stage, 'cicd.pipeline.task.name': task } = read(attributes)
          return [name, stage ?? task].filter((part) => part !== undefined).join(' ')
        })
      expect(shown(before)).toEqual(['build.stage 1', 'step', 'job one'])
      expect(shown(after)?.[0]).toBe('build')
      expect(shown(after)).toEqual(expect.arrayContaining(['build.stage 2', 'job two']))
      expect(shown(after)).not.toContain('job one')
      const ids = [...(before ?? []), ...(after ?? [])].map(({ spanId }) => spanId)
      expect(new Set(ids).size).toBe(ids.length)
      expect(before?.[0]?.parentSpanId).toBe(after?.[0]?.spanId)
    },
  )

  it('counts as failed when the receiver answers 200 but rejects spans', async () => {
    const { org, admin } = await anOrg()
    const { receiver, id } = await aTracer(org, admin)
    receiver.answering = (response) => {
      response.setHeader('content-type', 'application/x-protobuf')
      response.end(
        ExportTraceServiceResponse.encode({
          partialSuccess: { rejectedSpans: 2, errorMessage: 'too old' },
        }).finish(),
      )
    }
    const pipeline = await aPipeline(app, org, 'steps: [{command: turn}]')
    await runJob(app, await aBuild(app, org, pipeline), 'turn')
    await arrived(receiver, 1)
    const [delivery] = await eventually('the delivery', async () => {
      const all = await notifications.untilDelivered({ id })
      return all.length > 0 && all
    })
    expect(delivery?.state).toBe('dead')
    const attempt = await app.db
      .selectFrom('notification_attempts')
      .select(['error', 'exchanges'])
      .where('delivery_id', '=', delivery?.id ?? '')
      .executeTakeFirstOrThrow()
    expect(attempt.error).toBe('The receiver refused 2 spans: too old')
  })
})
