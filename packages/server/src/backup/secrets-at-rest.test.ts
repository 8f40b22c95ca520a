// Abuse case R10: every kind of secret is made with a value that can be recognized, and then looked for in every table
// and in a backup.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aRunningJob } from '../../test/agent-client.ts'
import { useOwnApp } from '../../test/app.ts'
import { aPipeline } from '../../test/builders.ts'
import { sealPlainSecrets } from '../resources/pipelines/pipelines/seal-plain.ts'
import { writeBackup } from './write.ts'

const app = useOwnApp()

/** Every row of every table, as PostgreSQL writes it. */
async function dump(): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(app.db)
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.raw(name)} t`.execute(
      app.db,
    )
    texts.push(`-- ${name}`, ...rows.map(({ text }) => text))
  }
  return texts.join('\n')
}

async function backup(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-secrets-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'backup.tar.gz')
  await writeBackup(app.database.pool, file, { blobsDir: join(folder, 'none'), secretKey: null })
  return gunzipSync(await readFile(file)).toString('latin1')
}

/** A column of bytes is written in hexadecimal digits. */
const formsOf = (secret: string) => [
  secret,
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
]

function linesWith(text: string, secret: string): string[] {
  return text.split('\n').filter((line) => formsOf(secret).some((form) => line.includes(form)))
}

describe('abuse case R10: secrets at rest', () => {
  it('are in no table and in no backup, whatever made them', async () => {
    const { run, world } = await aRunningJob(app)
    const { org, admin, cluster } = world
    const secrets = new Map<string, string>([
      ['access token', admin.token],
      ['cluster token', world.token],
      ['session of an agent', run.agent.session],
      ['job token', run.token.slice(-32)],
    ])
    const mark = (what: string): string => {
      const value = `recognizable-${what.replaceAll(' ', '-')}-${secrets.size}`
      secrets.set(what, value)
      return value
    }
    const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const answer = await app.request('POST', path, { token: admin.token, body, headers })
      expect([path, answer.status, answer.text]).toEqual([path, 201, answer.text])
      return answer.body
    }

    await post(`${cluster.path}/secrets`, { key: 'DEPLOY_KEY', value: mark('cluster secret') })
    const keyed = await post(
      `${cluster.path}/tokens`,
      { description: 'kept by its key' },
      { 'Idempotency-Key': 'once' },
    )
    secrets.set('token in a kept answer', String(keyed.token))
    for (const [provider, settings] of [
      ['webhook', { url: 'https://hooks.example.com/', token: mark('webhook token') }],
      ['chat', { url: `https://chat.example.com/${mark('chat address')}` }],
      [
        'open_telemetry_tracing',
        { endpoint: 'https://traces.example.com', headers: { 'x-key': mark('tracing header') } },
      ],
      ['monitoring_pipeline_visibility', { api_key: mark('monitoring key') }],
    ] as const) {
      await post(`${org.path}/services`, { provider, settings })
    }
    await post(`${org.path}/repository_connections`, {
      type: 'gitea',
      url: 'https://git.example.com',
      token: mark('connection token'),
      webhook_secret: mark('connection webhook secret'),
    })
    const sso = {
      issuer: 'https://login.example.com',
      client_id: 'millrace',
      client_secret: mark('client secret of single sign-on'),
    }
    const options = { token: admin.token, body: sso, headers: { 'Idempotency-Key': 'sso' } }
    expect((await app.request('PUT', `${org.path}/sso`, options)).status).toBe(200)
    const pipeline = await post(`${org.path}/pipelines`, {
      name: 'Sealed',
      cluster_id: cluster.id,
      repository: `https://me:${mark('repository password')}@git.example.com/app.git`,
      configuration: 'steps: [{ command: "echo $BUILDKITE_REPO" }]',
    })
    await post(`${org.path}/pipelines/sealed/builds`, { commit: 'HEAD', branch: 'main' })
    const { webhook_url: webhookUrl } = pipeline.provider as unknown as { webhook_url: string }
    secrets.set('webhook address', webhookUrl.split('/').at(-1) ?? '')
    const suite = await post(`${org.path}/suites`, { name: 'Tests' })
    secrets.set('suite token', String(suite.api_token))

    // As the version before has kept it.
    const oldToken = randomBytes(25).toString('hex')
    const old = await aPipeline(app, org, 'steps: [{ command: make }]', {
      repository: `https://me:${mark('old repository password')}@old.example.com/old.git`,
      webhook_token: oldToken,
    })
    secrets.set('old webhook address', oldToken)
    const before = await dump()
    for (const what of ['old repository password', 'old webhook address']) {
      expect(linesWith(before, secrets.get(what) ?? '')).toHaveLength(1)
    }
    expect(await sealPlainSecrets(app.ctx)).toBeGreaterThan(0)
    expect(await sealPlainSecrets(app.ctx)).toBe(0)
    expect((await app.request('POST', `/deliver/${oldToken}`, { text: '' })).status).toBe(400)
    const shown = await app.request('GET', old.path, { token: admin.token })
    expect([shown.body.repository, shown.body.provider]).toMatchObject([
      'https://old.example.com/old.git',
      { webhook_url: expect.stringContaining(`/deliver/${oldToken}`) },
    ])

    const [tables, file] = [await dump(), await backup()]
    expect(tables).toContain(`-- public.pipelines`)
    expect(file).toContain('DEPLOY_KEY')
    for (const [what, secret] of secrets) {
      expect(secret.length).toBeGreaterThan(10)
      expect([what, linesWith(tables, secret)]).toEqual([what, []])
      expect([what, linesWith(file, secret)]).toEqual([what, []])
    }
  })
})
