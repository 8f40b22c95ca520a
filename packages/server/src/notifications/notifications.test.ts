import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually, useApp } from '../../test/app.ts'
import {
  anAdmin,
  anOrganization,
  aPipeline,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { aReceiver, type Receiver } from '../../test/receiver.ts'
import { aBuild, runJob } from '../../test/runs.ts'
import { startTelling } from '../worker.ts'

const app = useApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

let telling: { stop(): Promise<void> }
beforeAll(() => {
  telling = startTelling(app.ctx)
})
afterAll(() => telling.stop())

const receivers: Receiver[] = []
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
})

async function aWebhook(org: TestOrganization, admin: TestUser, settings: object = {}, more: object = {}) {
  const receiver = await aReceiver()
  receivers.push(receiver)
  const answer = await app.request('POST', `${org.path}/services`, {
    token: admin.token,
    body: { provider: 'webhook', settings: { url: receiver.url, ...settings }, ...more },
  })
  if (answer.status !== 201) throw new Error(answer.text)
  return { receiver, path: `${org.path}/services/${answer.body.id}`, service: answer.body }
}

describe('a webhook', () => {
  it('is pinged when it is made, and told when a build has finished', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const { receiver, service } = await aWebhook(org, admin)
    const pipeline = await aPipeline(app, org, 'steps: [{command: turn}]')
    const build = await aBuild(app, org, pipeline, { creatorId: admin.id, env: { SECRET: 'x' } })
    await runJob(app, build, 'turn')
    await eventually('two requests', async () => receiver.received.length === 2)
    const [ping, finished] = receiver.received
    expect(ping?.body).toMatchObject({ event: 'ping', service: { id: service.id, provider: 'webhook' } })
    expect(finished?.headers['x-buildkite-event']).toBe('build.finished')
    expect(finished?.headers['x-buildkite-token']).toBe(service.settings.token)
    expect(finished?.headers['x-millrace-delivery']).toMatch(/^[0-9a-f-]{36}$/)
    expect(finished?.body).toMatchObject({
      event: 'build.finished',
      build: { id: build.id, state: 'passed', blocked: false },
      pipeline: { id: pipeline.id, provider: { webhook_url: '' } },
      sender: { id: admin.id, name: admin.name },
    })
    expect(finished?.body.build).not.toHaveProperty('env')
  })
})
