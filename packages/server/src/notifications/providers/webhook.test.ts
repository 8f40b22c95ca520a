import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Message } from '../messages/message.ts'
import { eventNames, type EventName } from '../names.ts'
import type { Delivery, SentRequest, ServiceMessage, Service } from '../provider.ts'
import { webhookSender } from './webhook.ts'

const at = '2026-01-02T03:04:05.678Z'
const organization = { id: 'o', slug: 'acme', created_at: at }
const build = { id: 'b', state: 'passed', created_at: at, meta_data: { seen_at: at } }
const pipeline = { id: 'p', created_at: at, provider: { webhook_url: '' }, steps: [{ created_at: at }] }
const job = { id: 'j', started_at: at, retry_source: null }
const agent = { id: 'a', connected_at: at, meta_data: ['queue=default'] }
const token = { id: 't', created_at: at }
const ofTest = { test: { id: 't', first_seen_at: at }, suite: { id: 's' } }

const ofBuild = { build, pipeline }
const ofJob = { job, build, pipeline }

/** The fields of the body beside `event` and `sender`, and the message it is made from. */
const bodies: Readonly<Record<EventName, { keys: string[]; data: Partial<Omit<Message, 'event'>> }>> = {
  ping: { keys: ['service', 'organization'], data: {} },
  'build.scheduled': { keys: ['build', 'pipeline'], data: ofBuild },
  'build.running': { keys: ['build', 'pipeline'], data: ofBuild },
  'build.failing': { keys: ['build', 'pipeline'], data: { ...ofBuild, failed_jobs: [] } },
  'build.finished': { keys: ['build', 'pipeline'], data: { ...ofBuild, failed_jobs: [] } },
  'build.skipped': { keys: ['build', 'pipeline'], data: ofBuild },
  'job.scheduled': { keys: ['job', 'build', 'pipeline'], data: ofJob },
  'job.started': { keys: ['job', 'build', 'pipeline'], data: ofJob },
  'job.finished': { keys: ['job', 'build', 'pipeline'], data: ofJob },
  'job.activated': { keys: ['job', 'build', 'pipeline'], data: ofJob },
  'job.promised_exit_status': {
    keys: ['promised_exit_status_reason', 'job', 'build', 'pipeline'],
    data: { ...ofJob, more: { promised_exit_status_reason: 'no disk' } },
  },
  'agent.connected': { keys: ['agent'], data: { agent } },
  'agent.lost': { keys: ['agent'], data: { agent } },
  'agent.disconnected': { keys: ['agent'], data: { agent } },
  'agent.stopping': { keys: ['agent'], data: { agent } },
  'agent.stopped': { keys: ['agent'], data: { agent } },
  'agent.blocked': {
    keys: ['blocked_ip', 'agent', 'cluster_token'],
    data: { agent, cluster_token: token, more: { blocked_ip: '192.0.2.1' } },
  },
  'cluster_token.registration_blocked': {
    keys: ['blocked_ip', 'cluster_token'],
    data: { cluster_token: token, more: { blocked_ip: '192.0.2.1' } },
  },
  'test.flaky': { keys: ['test', 'suite'], data: ofTest },
  'test.muted': { keys: ['test', 'suite'], data: ofTest },
  'test.skipped': { keys: ['test', 'suite'], data: ofTest },
  'test.enabled': { keys: ['test', 'suite'], data: ofTest },
  'test.quarantine_expired': { keys: ['test', 'suite'], data: ofTest },
  'budget.reached': { keys: ['budget'], data: { budget: { id: 'b', created_at: at } } },
}

const settings = {
  url: 'https://hooks.example.com/',
  token: 's3cr3t-webhook-token',
  token_mode: 'signature',
  version: 3,
  events: ['build.finished'],
  tls_verify: true,
}
const creator = { id: 'u', name: 'Ada' }

const aService = (change: object = {}): Service => ({
  id: 's',
  provider: 'webhook',
  organizationId: 'o',
  buildStates: [],
  settings: { ...settings, ...change },
  creator,
})

const aMessage = (event: EventName, sender: Message['sender'] = null): ServiceMessage => ({
  id: 'm',
  event,
  occurredAt: at,
  states: [],
  sender,
  organization,
  ...bodies[event].data,
})

const bodyOf = (event: EventName, version: number): Record<string, unknown> =>
  JSON.parse(webhookSender.preview?.(aService({ version }), aMessage(event)) ?? '{}') as Record<
    string,
    unknown
  >

async function sent(service: Service, message: ServiceMessage, now: Date): Promise<SentRequest> {
  const requests: SentRequest[] = []
  const delivery: Delivery = {
    id: 'd',
    attempt: 1,
    message,
    service,
    now,
    send: async (request) => {
      requests.push(request)
      return { status: 200, headers: {}, body: Buffer.alloc(0), isCut: false }
    },
    db: undefined as never,
    cloudBus: undefined as never,
    state: { find: async () => null, keep: () => {} },
    openSession: () => undefined as never,
  }
  await webhookSender.deliver(delivery)
  const [request] = requests
  if (request === undefined) throw new Error('Nothing was sent.')
  return request
}

describe.each(eventNames)('the body of %s', (event) => {
  it('has its event, its subjects and its sender, in every version', () => {
    const { keys } = bodies[event]
    expect(Object.keys(bodyOf(event, 3))).toEqual(['event', ...keys, 'sender'])
    expect(Object.keys(bodyOf(event, 2))).toEqual(['event', ...keys, 'sender'])
    const first = Object.keys(bodyOf(event, 1))
    expect(first).toEqual(['event', ...keys, 'sender', ...(keys.includes('pipeline') ? ['project'] : [])])
    for (const version of [1, 2, 3]) {
      expect(bodyOf(event, version)).toMatchObject({ event, sender: creator })
    }
  })

  it('has times in the format of its version, and leaves values of users unchanged', () => {
    const text = (version: number) =>
      JSON.stringify(bodyOf(event, version)).replaceAll(`"seen_at":"${at}"`, '')
    expect(text(3)).not.toContain('03:04:05 UTC')
    for (const version of [1, 2]) {
      const own = text(version).replaceAll(/"steps":\[[^\]]*\]/g, '')
      expect(own).not.toContain(at)
      expect(own).toContain('2026-01-02 03:04:05 UTC')
    }
  })
})

describe('a request', () => {
  it('is signed like the published vector', async () => {
    // HMAC-SHA256 of "1700000000." and the body.
    const request = await sent(aService(), aMessage('build.finished'), new Date(1_700_000_000_000))
    const code = createHmac('sha256', 's3cr3t-webhook-token')
      .update(`1700000000.${String(request.body)}`)
      .digest('hex')
    expect(request.headers['X-Buildkite-Signature']).toBe(`timestamp=1700000000,signature=${code}`)
    const vector = createHmac('sha256', 's3cr3t-webhook-token')
      .update('1700000000.{"event":"ping"}')
      .digest('hex')
    expect(vector).toBe('1ed44939e4dd4517a6c34e36deee92e7557b4a1fd6993c94eb8911403ae8a780')
  })

  it('has the same body for every attempt', async () => {
    const message = aMessage('job.finished', { id: 'v', name: 'Bob' })
    const [first, second] = [
      await sent(aService(), message, new Date(0)),
      await sent(aService(), message, new Date()),
    ]
    expect(second.body).toBe(first.body)
    expect(JSON.parse(String(first.body))).toMatchObject({ sender: { name: 'Bob' } })
    expect(second.headers['X-Millrace-Delivery']).toBe(first.headers['X-Millrace-Delivery'])
  })

  it('does not verify certificates when `tls_verify` is false', async () => {
    expect((await sent(aService({ tls_verify: false }), aMessage('ping'), new Date())).tlsVerify).toBe(false)
    expect((await sent(aService(), aMessage('ping'), new Date())).tlsVerify).toBe(true)
  })
})
