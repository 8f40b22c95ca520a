// Abuse case R10: a new address for a service does not get the secrets that were meant for the old one.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { anAdmin, anOrganization, type TestOrganization } from '../../../../test/builders.ts'

const app = useApp()
let org: TestOrganization
let token: string
beforeAll(async () => {
  org = await anOrganization(app)
  token = (await anAdmin(app, org)).token
})

async function aService(provider: string, settings: object) {
  const made = await app.request('POST', `${org.path}/services`, { token, body: { provider, settings } })
  expect(made.status).toBe(201)
  const path = `${org.path}/services/${String(made.body.id)}`
  return {
    shown: made.body.settings as unknown as Record<string, unknown>,
    patch: (changed: object) => app.request('PATCH', path, { token, body: { settings: changed } }),
  }
}

describe('abuse case R10: PATCH of the address of a service', () => {
  it('is 422 without the headers of traces, which are never shown', async () => {
    const { patch } = await aService('open_telemetry_tracing', {
      endpoint: 'https://traces.example.com',
      headers: { 'x-api-key': 'secret' },
    })
    const refused = await patch({ endpoint: 'https://evil.example.com' })
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'Validation failed: settings.headers must be sent again when settings.endpoint changes: it goes only where it was meant for',
    ])
    expect((await patch({ endpoint: 'https://traces.example.com' })).status).toBe(200)
    expect((await patch({ service_name: 'x' })).status).toBe(200)
    const moved = await patch({ endpoint: 'https://other.example.com', headers: { 'x-api-key': 'new' } })
    expect(moved.status).toBe(200)
    expect((await patch({ endpoint: 'https://third.example.com', headers: null })).status).toBe(200)
    expect((await patch({ endpoint: 'https://fourth.example.com' })).status).toBe(200)
  })

  it('is 422 with the masked key', async () => {
    const { shown, patch } = await aService('monitoring_pipeline_visibility', { api_key: 'abcdefghijkl' })
    const site = { monitoring_site: 'https://evil.example.com' }
    expect((await patch(site)).status).toBe(422)
    expect((await patch({ ...site, api_key: shown['api_key'] })).status).toBe(422)
    expect((await patch({ ...site, api_key: 'abcdefghijkl' })).status).toBe(200)
  })

  it('is accepted when the secret is shown to those who may change the address', async () => {
    const { patch } = await aService('webhook', { url: 'https://hooks.example.com/a' })
    expect((await patch({ url: 'https://hooks.example.com/b' })).status).toBe(200)
  })
})

describe('abuse case R10: PATCH of the address of a repository connection', () => {
  it('is 422 without the webhook secret, which is sent to the host', async () => {
    const made = await app.request('POST', `${org.path}/repository_connections`, {
      token,
      body: { type: 'gitea', url: 'https://git.example.com', webhook_secret: 'a webhook secret' },
    })
    expect(made.status).toBe(201)
    const path = `${org.path}/repository_connections/${String(made.body.id)}`
    const patch = (body: object) => app.request('PATCH', path, { token, body })
    const url = 'https://evil.example.com'
    const refused = await patch({ url })
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringMatching(/webhook_secret is required/),
    ])
    expect((await patch({ url, webhook_secret: 'another' })).status).toBe(200)
  })
})
