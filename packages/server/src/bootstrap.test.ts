import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { call, registerBody } from '../test/agent-client.ts'
import { startApp } from '../test/app.ts'
import { bootstrap, keepSecretKey, readSecretKeys } from './bootstrap.ts'

describe('bootstrap', () => {
  it('creates everything once, however many processes start at the same moment', async () => {
    const app = await startApp()
    const starts = Array.from({ length: 8 }, () => bootstrap(app.db, { slug: 'my-team', token: undefined }))
    const made = (await Promise.all(starts)).filter((first) => first !== null)
    expect(made).toMatchObject([{ organization: 'my-team', administrator: 'admin@localhost' }])
    const { token } = made[0]
    const org = await app.request('GET', '/v2/organizations/my-team', { token })
    expect(org.body).toMatchObject({ slug: 'my-team', name: 'My team' })
    const clusters = await app.request('GET', '/v2/organizations/my-team/clusters', { token })
    expect(clusters.list).toMatchObject([{ name: 'Default cluster' }])
    const [{ id, default_queue_id }] = clusters.list
    const queues = await app.request('GET', `/v2/organizations/my-team/clusters/${id}/queues`, { token })
    expect(queues.list).toMatchObject([{ id: default_queue_id, key: 'default' }])
    const settings = await app.request('GET', '/v2/organizations/my-team/pipeline-settings', { token })
    expect(settings.body.default_cluster_id).toBe(id)
    const types = await app.db.selectFrom('audit_events').select('type').orderBy('type').execute()
    expect(types.map(({ type }) => type)).toEqual([
      'API_ACCESS_TOKEN_CREATED',
      'CLUSTER_CREATED',
      'CLUSTER_QUEUE_CREATED',
      'ORGANIZATION_CREATED',
      'ORGANIZATION_MEMBER_CREATED',
      'PIPELINE_CREATED',
    ])
    await app.close()
  })

  it('creates the first token of agents with the value from the settings', async () => {
    const app = await startApp()
    const [token, agentToken] = ['a-token-chosen-by-a-script', 'a-token-chosen-for-agents']
    await bootstrap(app.db, { slug: 'acme', token, agentToken })
    const { list: clusters } = await app.request('GET', '/v2/organizations/acme/clusters', { token })
    const path = `/v2/organizations/acme/clusters/${clusters[0].id}/tokens`
    const { list: tokens } = await app.request('GET', path, { token })
    expect(tokens).toMatchObject([{ description: 'First agents', allowed_ip_addresses: '0.0.0.0/0 ::/0' }])
    const registered = await call(app, agentToken, 'POST', 'register', { body: registerBody() })
    expect(registered.status).toBe(200)
    const types = await app.db.selectFrom('audit_events').select('type').execute()
    expect(types).toContainEqual({ type: 'CLUSTER_TOKEN_CREATED' })
    await app.close()
  })
})

describe('the secret key', () => {
  let dataDir = ''
  const given = 'one key of at least 32 characters'

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'millrace-key-'))
  })

  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  it('is created once and only its owner can read it', () => {
    const [key] = readSecretKeys(dataDir, undefined)
    expect(key.length).toBeGreaterThanOrEqual(43)
    expect(readSecretKeys(dataDir, undefined)).toEqual([key])
    expect(statSync(join(dataDir, 'secret-key')).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir)).toEqual(['secret-key'])
  })

  it('is not created when one or several are given', () => {
    expect(readSecretKeys(dataDir, `${given}, ${given}!`)).toEqual([given, `${given}!`])
    expect(existsSync(join(dataDir, 'secret-key'))).toBe(false)
  })

  it('is never replaced when its file is broken', () => {
    writeFileSync(join(dataDir, 'secret-key'), '')
    expect(() => readSecretKeys(dataDir, undefined)).toThrow('put back the key that was kept there.')
  })

  it('is taken from a backup only where there is none', () => {
    keepSecretKey(dataDir, undefined, given)
    expect(readFileSync(join(dataDir, 'secret-key'), 'utf8')).toBe(`${given}\n`)
    keepSecretKey(dataDir, undefined, given)
    expect(() => keepSecretKey(dataDir, undefined, `${given}!`)).toThrow('another secret key')
    keepSecretKey(dataDir, `${given}!,${given}`, given)
    expect(() => keepSecretKey(dataDir, `${given}!`, given)).toThrow('another secret key')
  })
})
