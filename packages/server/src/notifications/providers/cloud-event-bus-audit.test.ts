// Audit events on the event bus. Their time is that of the database, so the clock of this file is never moved.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually, type Json } from '../../../test/app.ts'
import {
  aMember,
  aPipeline,
  withFeature,
  type TestOrganization,
  type TestUser,
} from '../../../test/builders.ts'
import { aReceiver, type Answering } from '../../../test/remote-hosts/receiver.ts'
import { aBuild, runJob } from '../../../test/runs.ts'
import { useNotifications } from '../../../test/notifications.ts'

const taken: Answering = (response) => {
  response.setHeader('content-type', 'application/x-amz-json-1.1')
  response.end(JSON.stringify({ FailedEntryCount: 0, Entries: [{ EventId: '1' }] }))
}
const bus = await aReceiver(taken)
const { app, anOrg } = useNotifications({ MILLRACE_EVENT_BUS_ENDPOINT: new URL(bus.url).origin })

beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY')
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await bus.close()
})

async function aBus(org: TestOrganization, admin: TestUser) {
  const body = {
    provider: 'cloud_event_bus',
    settings: { cloud_region: 'eu-west-1', cloud_account_id: '123456789012' },
  }
  const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return { id: String(answer.body.id), path: `${org.path}/services/${answer.body.id}` }
}

const entries = (): Json[] => bus.received.map(({ body }) => body.Entries?.[0] ?? {})

describe('a bus of a cloud account', () => {
  it('gets audit events when an administrator asks for them, and others get none', async () => {
    const { org, admin } = await anOrg()
    await withFeature(app, org, 'audit_log')
    const receiver = await aReceiver(taken)
    const settings = { url: receiver.url, events: ['build.finished'] }
    const webhook = { provider: 'webhook', settings }
    await app.request('POST', `${org.path}/services`, { token: admin.token, body: webhook })
    const service = await aBus(org, admin)
    const save = (token: string, asks: boolean) =>
      app.request('PUT', service.path, { token, body: { settings: { include_audit_events: asks } } })
    const rename = (name: string) =>
      app.request('POST', `${org.path}/clusters`, { token: admin.token, body: { name } })
    await rename('before')
    expect((await save(admin.token, true)).body.settings).toMatchObject({ include_audit_events: true })
    const { body: cluster } = await rename('while')
    await eventually('the audit event of the cluster', async () =>
      entries().some(({ Detail }) => String(Detail).includes('CLUSTER_CREATED')),
    )
    expect(entries().map((entry) => entry.DetailType)).toEqual(['Audit Event Logged', 'Audit Event Logged'])
    const details = entries().map(({ Detail }) => JSON.parse(String(Detail)) as Json)
    expect(details[0]?.event).toMatchObject({
      type: 'NOTIFICATION_SERVICE_UPDATED',
      subject_uuid: service.id,
    })
    const { list } = await app.request('GET', `${org.path}/audit_events`, { token: admin.token })
    const newest = list.find(({ type }) => String(type) === 'ClusterCreatedEvent')
    expect(details[1]).toEqual({
      version: 1,
      delivery_id: expect.any(String),
      organization: { uuid: org.id, graphql_id: expect.any(String), slug: org.slug },
      event: {
        uuid: newest?.uuid,
        occurred_at: newest?.occurred_at,
        type: 'CLUSTER_CREATED',
        data: newest?.data,
        subject_type: 'Cluster',
        subject_uuid: cluster.id,
        subject_name: 'while',
        context: expect.stringContaining('"request_ip":'),
      },
      actor: { type: 'User', uuid: admin.id, name: expect.any(String) },
    })
    const member = await aMember(app, org)
    await withFeature(app, org, 'members_manage_notification_services')
    expect((await save(member.token, false)).status).toBe(200)
    expect(await save(member.token, true)).toMatchObject({
      status: 403,
      body: { message: 'Only administrators may have audit events sent.' },
    })
    await rename('after')
    const pipeline = await aPipeline(app, org, 'steps: [{command: turn}]')
    await runJob(app, await aBuild(app, org, pipeline), 'turn')
    await eventually('the end', async () =>
      entries().some((one) => String(one.DetailType) === 'Build Finished'),
    )
    const types = entries().map(({ DetailType }) => DetailType)
    expect(types.filter((type) => String(type) === 'Audit Event Logged')).toHaveLength(2)
    await receiver.close()
  })
})
