import { createPublicKey, verify, type JsonWebKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useOwnApp, type Json } from '../../../test/app.ts'
import { aRunningJob, type TestRun } from '../../../test/agent-client.ts'

const app = useOwnApp()

describe('identity tokens', () => {
  const ask = (run: TestRun, body: object = {}) => run.call('POST', `jobs/${run.id}/oidc/tokens`, { body })

  async function open(token: string): Promise<Record<string, Json>> {
    const [head, claims, signature] = token.split('.')
    const read = (part: string) =>
      JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, Json>
    const { body } = await app.request('GET', '/.well-known/jwks')
    const keys = body.keys as unknown as Array<JsonWebKey & { kid: string }>
    const key = keys.find(({ kid }) => kid === String(read(head).kid))
    expect(JSON.stringify(keys)).not.toContain('"d"')
    const publicKey = createPublicKey({ key: key ?? {}, format: 'jwk' })
    expect(
      verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url')),
    ).toBe(true)
    return read(claims)
  }

  it('say what the job is, signed with a published key', async () => {
    const { run, world, build } = await aRunningJob(app)
    const { status, body } = await ask(run)
    const claims = await open(String(body.token))
    expect([status, claims]).toEqual([
      200,
      {
        iss: app.ctx.config.url,
        sub: `organization:${world.org.slug}:pipeline:${run.env.BUILDKITE_PIPELINE_SLUG}:ref:refs/heads/main:commit:HEAD:step:one`,
        aud: `${app.ctx.config.url}/${world.org.slug}`,
        iat: expect.any(Number),
        nbf: expect.any(Number),
        exp: Number(claims.iat) + 300,
        organization_slug: world.org.slug,
        pipeline_slug: run.env.BUILDKITE_PIPELINE_SLUG,
        build_number: build.number,
        build_branch: 'main',
        build_commit: 'HEAD',
        build_source: 'api',
        step_key: 'one',
        job_id: run.id,
        agent_id: run.agent.id,
        runner_environment: 'self-hosted',
      },
    ])
    const { body: configuration } = await app.request('GET', '/.well-known/openid-configuration')
    expect(configuration).toMatchObject({
      issuer: app.ctx.config.url,
      jwks_uri: `${app.ctx.config.url}/.well-known/jwks`,
    })
  })

  it('carry what is asked for, and nothing unknown', async () => {
    const { run, world } = await aRunningJob(app)
    const asked = {
      audience: 'sts.amazonaws.com',
      lifetime: 60,
      claims: ['cluster_id', 'agent_tag:queue'],
      aws_session_tags: ['organization_slug'],
      subject_claim: 'pipeline_id',
    }
    const claims = await open(String((await ask(run, asked)).body.token))
    expect(claims).toMatchObject({
      aud: 'sts.amazonaws.com',
      exp: Number(claims.iat) + 60,
      sub: run.env.BUILDKITE_PIPELINE_ID,
      cluster_id: world.cluster.id,
      'agent_tag:queue': 'default',
      'https://aws.amazon.com/tags': { principal_tags: { organization_slug: [world.org.slug] } },
    })
    expect((await ask(run, { claims: ['password'] })).status).toBe(422)
    expect((await ask(run, { lifetime: 100_000 })).status).toBe(422)
  })

  it('are signed with a new key after a month, and the old one is still published', async () => {
    const { run } = await aRunningJob(app)
    const before = String((await ask(run)).body.token)
    await app.db
      .updateTable('oidc_keys')
      .set({ created_at: new Date(Date.now() - 31 * 86_400_000).toISOString() })
      .execute()
    const answers = await Promise.all([1, 2, 3].map(() => ask(run)))
    const kids = answers.map(
      ({ body }) =>
        JSON.parse(Buffer.from(String(body.token).split('.')[0], 'base64url').toString()).kid as string,
    )
    expect(new Set(kids).size).toBe(1)
    await open(before)
    await app.db
      .updateTable('oidc_keys')
      .set({ created_at: new Date(Date.now() - 61 * 86_400_000).toISOString() })
      .execute()
    await ask(run)
    const { body } = await app.request('GET', '/.well-known/jwks')
    expect((body.keys as unknown as unknown[]).length).toBe(1)
  })
})
