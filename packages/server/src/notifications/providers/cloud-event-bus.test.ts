import { createHash, createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventually, type Json } from '../../../test/app.ts'
import { aPipeline, withFeature, type TestOrganization, type TestUser } from '../../../test/builders.ts'
import { aReceiver, type Answering, type Received } from '../../../test/remote-hosts/receiver.ts'
import { aBuild, runJob } from '../../../test/runs.ts'
import { useNotifications } from '../../../test/notifications.ts'

const keyId = 'AKIDEXAMPLE'
const secretKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

const taken: Answering = (response) => {
  response.setHeader('content-type', 'application/x-amz-json-1.1')
  response.end(JSON.stringify({ FailedEntryCount: 0, Entries: [{ EventId: '1' }] }))
}
const bus = await aReceiver(taken)
const notifications = useNotifications({ MILLRACE_EVENT_BUS_ENDPOINT: new URL(bus.url).origin })
const { app, anOrg } = notifications

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cloud-'))
  const file = join(folder, 'credentials')
  await writeFile(
    file,
    `[builds]\naws_access_key_id = ${keyId}\naws_secret_access_key = ${secretKey}\naws_session_token = session\n`,
  )
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', file)
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'))
  vi.stubEnv('AWS_PROFILE', 'builds')
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await bus.close()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  bus.received.length = 0
  bus.answering = taken
})

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()

/** AWS Signature Version 4, written after its documentation. */
function expectedSignature({ method, path, headers, raw }: Received, names: string[], scope: string): string {
  const canonical = [
    method,
    path,
    '',
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names.join(';'),
    sha256(raw),
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secretKey}`)
  return hmac(key, text).toString('hex')
}

async function aBus(org: TestOrganization, admin: TestUser, settings: object = {}) {
  const body = {
    provider: 'cloud_event_bus',
    settings: { cloud_region: 'eu-west-1', cloud_account_id: '123456789012', ...settings },
  }
  const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return { id: String(answer.body.id), path: `${org.path}/services/${answer.body.id}` }
}

const entries = (): Json[] => bus.received.map(({ body }) => body.Entries?.[0] ?? {})
const ended = () =>
  eventually('the end', async () => entries().some((one) => String(one.DetailType) === 'Build Finished'))

describe('a bus of a cloud account', () => {
  it('gets every event of a build, in order, signed with the credentials of the installation', async () => {
    const { org, admin } = await anOrg()
    await withFeature(app, org, 'include_build_meta_data')
    await aBus(org, admin, { include_build_meta_data: true })
    const pipeline = await aPipeline(app, org, 'steps: [{command: turn, label: Turn, key: t}]')
    const build = await aBuild(app, org, pipeline, { creatorId: admin.id, metaData: { release: '1' } })
    await runJob(app, build, 'turn', 2)
    await ended()
    for (const request of bus.received) {
      const { authorization = '', ...headers } = request.headers
      expect(headers).toMatchObject({
        'x-amz-target': 'AWSEvents.PutEvents',
        'x-amz-security-token': 'session',
        'content-type': 'application/x-amz-json-1.1',
      })
      const read =
        /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
          authorization,
        )
      const [, id, scope = '', names = '', signature] = read ?? []
      expect([id, scope.slice(8)]).toEqual([keyId, '/eu-west-1/events/aws4_request'])
      expect(names.split(';')).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-target']))
      expect(signature).toBe(expectedSignature(request, names.split(';'), scope))
    }
    expect(entries().map((entry) => entry.DetailType)).toEqual([
      'Job Scheduled',
      'Build Created',
      'Job Started',
      'Build Started',
      'Job Finished',
      'Build Finished',
    ])
    expect(entries().at(-1)).toMatchObject({
      EventBusName: 'arn:aws:events:eu-west-1:123456789012:event-bus/default',
      Source: 'millrace',
    })
    const details = entries().map(({ Detail }) => JSON.parse(String(Detail)) as Json)
    expect(details.at(-1)).toMatchObject({
      version: 1,
      delivery_id: expect.any(String),
      build: { uuid: build.id, number: build.number, state: 'failed', meta_data: { release: '1' } },
      pipeline: { uuid: pipeline.id, slug: pipeline.slug },
      organization: { uuid: org.id, slug: org.slug },
    })
    expect(details.at(-2)?.job).toMatchObject({
      label: 'Turn',
      step_key: 't',
      state: 'finished',
      passed: false,
      exit_status: 2,
    })
    expect(details[3]?.build).toMatchObject({ state: 'started' })
  })

  it('gets the event again when it rejects it in a response with status 200', async () => {
    const { org, admin } = await anOrg()
    const service = await aBus(org, admin)
    bus.answering = (response, received, n) => {
      if (n > 0) return taken(response, received, n)
      response.setHeader('content-type', 'application/x-amz-json-1.1')
      const refused = { ErrorCode: 'ThrottlingException', ErrorMessage: 'slow down' }
      return response.end(JSON.stringify({ FailedEntryCount: 1, Entries: [refused] }))
    }
    const pipeline = await aPipeline(app, org, 'steps: [{command: turn}]')
    await runJob(app, await aBuild(app, org, pipeline), 'turn')
    await notifications.passUntil(service, 'the end', () =>
      entries().some((one) => String(one.DetailType) === 'Build Finished'),
    )
    const [first, second] = entries()
    expect(second).toEqual(first)
    expect(JSON.parse(String(first?.Detail))).not.toHaveProperty('build.meta_data')
    const attempt = await app.db
      .selectFrom('notification_attempts')
      .innerJoin('notification_deliveries as d', 'd.id', 'notification_attempts.delivery_id')
      .select(['error', 'exchanges'])
      .where('d.service_id', '=', service.id)
      .where('error', 'is not', null)
      .executeTakeFirstOrThrow()
    expect(attempt.error).toBe('The bus refused the event: ThrottlingException slow down')
    const written = JSON.stringify(attempt.exchanges)
    expect(written).toContain('"authorization":"XXXX"')
    expect(written).not.toContain(keyId)
  })
})
