// A repository connected by a GitHub App, with the real server, runner and git: the tokens that git and jobs get.
import { execFileSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { aHostedRepository, startGitHost, type HostedRepository } from '../testbed/src/git-host.ts'
import { aSharedDirectory, eventually, theServer } from './millrace.ts'

// Self-signed; git does not verify it.
const tls = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGjNDlGHvP3zSjqmI
6Y0X+aZ5CDAL78M+vgNwmFd8UIahRANCAARvhBoXre1aCt4GzYauyA64ZgY60wYp
dLKRdAbbZbjnP2BhmDqOzJa/ScRAIUgCvt0muFwaV76crqx0lgNRAC1R
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBfTCCASOgAwIBAgIUB2rNswtGTsrDDimME6NEwGfP9pMwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIZ2l0LnRlc3QwIBcNMjYxMTE1MTgwNTMwWhgPMjEyNjEwMjIx
ODA1MzBaMBMxETAPBgNVBAMMCGdpdC50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEb4QaF63tWgreBs2GrsgOuGYGOtMGKXSykXQG22W45z9gYZg6jsyWv0nE
QCFIAr7dJrhcGle+nK6sdJYDUQAtUaNTMFEwHQYDVR0OBBYEFL0b7QGjGHq4DZxv
BO7JMQlEGJQwMB8GA1UdIwQYMBaAFL0b7QGjGHq4DZxvBO7JMQlEGJQwMA8GA1Ud
EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgPcyii6t0BtFEkegmIT0SVH/q
W7y8zJvekLNdxOMCScwCIQCNoxlW41YHgxsvlN+bEKBB4gLoDVSzpK4KPZU8G8u5
SA==
-----END CERTIFICATE-----`,
}

const closing: NetServer[] = []
afterAll(() => closing.forEach((server) => server.close()))

async function listen(server: NetServer): Promise<number> {
  closing.push(server)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return (server.address() as AddressInfo).port
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
const workflow = '.github/workflows/release.yml'

interface Minted {
  token: string
  permissions: Record<string, string>
}

/** Issues tokens for JWTs of App 42, and serves the workflow to their bearers. */
async function aGitHubApi(folder: string): Promise<{ port: number; minted: Minted[] }> {
  const minted: Minted[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const bearer = (request.headers.authorization ?? '').replace('Bearer ', '')
    if (request.method === 'GET') {
      const isKnown = minted.some(({ token }) => token === bearer)
      const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '')
      if (!isKnown || path !== `/repos/acme/app/contents/${workflow}`) return response.writeHead(404).end()
      const [, commit = ''] = (request.url ?? '').split('?ref=')
      return response.end(execFileSync('git', ['-C', folder, 'show', `${commit}:${workflow}`]))
    }
    const { permissions } = (await json(request)) as { permissions: Record<string, string> }
    const [header, payload, signature = ''] = bearer.split('.')
    const isSigned = verify(
      'sha256',
      Buffer.from(`${header}.${payload}`),
      createPublicKey(pem),
      Buffer.from(signature, 'base64url'),
    )
    if (!isSigned) return response.writeHead(401).end()
    const token = `ghs_${randomBytes(12).toString('hex')}`
    minted.push({ token, permissions })
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const repositories = [{ full_name: 'acme/app' }]
    return response.writeHead(201).end(JSON.stringify({ token, expires_at, permissions, repositories }))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return { port: await listen(server), minted }
}

async function aRepository(): Promise<HostedRepository> {
  const repository = await aHostedRepository(aSharedDirectory())
  await repository.push('refs/heads/main', {
    greeting: 'hello from a private repository\n',
    [workflow]: 'permissions: { contents: write }\n',
  })
  return repository
}

const asking = `
const { BUILDKITE_AGENT_ENDPOINT: api, BUILDKITE_JOB_ID: job, BUILDKITE_REPO: repo_url } = process.env
const ask = async (permissions) => {
  const answer = await fetch(api + '/jobs/' + job + '/github_workflow_access_token', {
    method: 'POST',
    headers: { Authorization: 'Token ' + process.env.BUILDKITE_AGENT_ACCESS_TOKEN, 'Content-Type': 'application/json' },
    body: JSON.stringify({ repo_url, workflow: 'release.yml', permissions }),
  })
  const { token = '' } = await answer.json()
  console.log(JSON.stringify(permissions), answer.status, token.slice(0, 4))
}
ask({ contents: 'write' }).then(() => ask({ issues: 'write' }))
`

it('checks out a private repository, and gets a token for what its workflow grants, by a GitHub App', async () => {
  const { root, bare } = await aRepository()
  const { port: apiPort, minted } = await aGitHubApi(bare)
  const mayRead = (token: string) =>
    minted.some((one) => one.token === token && one.permissions['contents'] === 'read')
  const { port: gitPort, close } = await startGitHost({ root, mayRead, tls })
  onTestFinished(close)
  const server = theServer()
  const org = '/v2/organizations/default'
  const connected = await server.post(`${org}/repository_connections`, {
    type: 'github_enterprise_app',
    url: `https://127.0.0.1:${gitPort}`,
    api_url: `http://127.0.0.1:${apiPort}`,
    app_id: 42,
    installation_id: 7,
    private_key: pem,
  })
  expect([connected.status, String(connected.body['private_key'])]).toEqual([
    201,
    expect.stringMatching(/^SHA256:/),
  ])
  const script = join(aSharedDirectory(), 'ask.cjs')
  writeFileSync(script, asking)
  const pipeline = await server.post(`${org}/pipelines`, {
    name: 'Private',
    repository: `https://127.0.0.1:${gitPort}/acme/app.git`,
    configuration: JSON.stringify({
      env: { GIT_SSL_NO_VERIFY: 'true' },
      steps: [{ command: `cat greeting; ${process.execPath} ${script}` }],
    }),
    provider_settings: { github_workflow_access_tokens_enabled: true, publish_commit_status: false },
  })
  expect(pipeline.status).toBe(201)
  const builds = `${org}/pipelines/private/builds`
  expect((await server.post(builds, { commit: 'HEAD', branch: 'main' })).status).toBe(201)
  const ended = await eventually('the build ends', async () => {
    const { body } = await server.get(`${builds}/1`)
    return ['passed', 'failed'].includes(String(body['state'])) && body
  })
  const [job] = ended['jobs'] as unknown as Array<{ id: string }>
  const log = String((await server.get(`${builds}/1/jobs/${job?.id}/log`)).body['content'])
  expect([String(ended['state']), log]).toEqual([
    'passed',
    expect.stringContaining('hello from a private repository'),
  ])
  expect(log).toContain('{"contents":"write"} 200 ghs_')
  expect(log).toContain('{"issues":"write"} 400')
  expect(minted.map(({ permissions }) => permissions)).toContainEqual({ contents: 'write' })
  expect(minted.filter(({ token }) => log.includes(token))).toEqual([])
})
