// The deploy key of a pipeline: its endpoints, polls and checkouts with it. A program named ssh on the path takes the place of a
// connection: it checks the key with ssh-keygen and starts git as a host would.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { aHostedRepository, type HostedRepository } from '../../../../../../testbed/src/git-host.ts'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../../test/agent-client.ts'
import { useOwnApp } from '../../../../test/app.ts'
import { aPipeline, auditTrail } from '../../../../test/builders.ts'
import { pollDue } from '../../../../test/polls.ts'
import { aBuild } from '../../../../test/runs.ts'

const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '0', MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

let repository: HostedRepository
let authorized: string
let calls: string
beforeAll(async () => {
  repository = await aHostedRepository()
  await repository.push('refs/heads/main', { greeting: 'hello\n' })
  const bin = join(repository.root, 'bin')
  mkdirSync(bin)
  authorized = join(repository.root, 'authorized')
  calls = join(repository.root, 'calls')
  writeFileSync(
    join(bin, 'ssh'),
    `#!/bin/sh
echo "$@" >> '${calls}'
key=; previous=; last=
for word in "$@"; do [ "$previous" = -i ] && key=$word; previous=$word; last=$word; done
[ "$(stat -c %a "$key")" = 600 ] || exit 255
ssh-keygen -y -f "$key" | cut -d' ' -f1,2 | grep -qxFf '${authorized}' || { echo 'Permission denied (publickey).' >&2; exit 255; }
cd '${repository.root}' && eval "exec $last"
`,
    { mode: 0o755 },
  )
  vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await repository.remove()
})

const address = 'git@127.0.0.1:acme/app.git'

async function aKeyed(world: AgentWorld, more: object = {}) {
  const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]', {
    repository: address,
    ...more,
  })
  const path = `${pipeline.path}/deploy_key`
  const ask = (method: 'GET' | 'POST' | 'DELETE') => app.request(method, path, { token: world.admin.token })
  return { pipeline, ask }
}

const authorize = (line: unknown) =>
  writeFileSync(authorized, `${String(line).split(' ').slice(0, 2).join(' ')}\n`)

describe('/organizations/{org}/pipelines/{pipeline}/deploy_key', () => {
  it('makes a key whose private half nobody sees, shows it, replaces it and deletes it', async () => {
    const world = await anAgentWorld(app)
    const { ask } = await aKeyed(world)
    expect((await ask('GET')).status).toBe(404)
    const made = await ask('POST')
    expect([made.status, made.body]).toEqual([
      201,
      {
        public_key: expect.stringMatching(/^ssh-ed25519 [A-Za-z0-9+/]{68} millrace\//),
        fingerprint: expect.stringMatching(/^SHA256:/),
        created_at: expect.any(String),
        created_by: expect.objectContaining({ id: world.admin.id }),
      },
    ])
    const shown = execFileSync('ssh-keygen', ['-l', '-f', '-'], { input: String(made.body.public_key) })
    expect(shown.toString()).toContain(String(made.body.fingerprint))
    expect((await ask('GET')).body).toEqual(made.body)
    const again = await ask('POST')
    expect(again.body.fingerprint).not.toBe(made.body.fingerprint)
    expect((await ask('DELETE')).status).toBe(204)
    expect([(await ask('GET')).status, (await ask('DELETE')).status]).toEqual([404, 404])
    const trail = await auditTrail(app, world.org, 'PIPELINE_UPDATED')
    expect(trail.map(({ data }) => data)).toEqual([
      { deploy_key_created: made.body.fingerprint },
      { deploy_key_created: again.body.fingerprint },
      { deploy_key_deleted: again.body.fingerprint },
    ])
  })

  it('answers 422 where the repository has no address of ssh', async () => {
    const { ask } = await aKeyed(await anAgentWorld(app), {
      repository: 'https://git.example.com/acme/app.git',
    })
    expect((await ask('POST')).status).toBe(422)
  })
})

describe('a deploy key', () => {
  it('reads the repository for polls and for jobs, and leaves no file', async () => {
    const world = await anAgentWorld(app)
    const { pipeline, ask } = await aKeyed(world)
    const { body: key } = await ask('POST')
    authorize('ssh-ed25519 other')
    const path = pipeline.path
    await app.request('PATCH', path, { token: world.admin.token, body: { poll_interval_seconds: 30 } })
    await pollDue(app.ctx)
    const pollError = async () =>
      (await app.request('GET', path, { token: world.admin.token })).body.poll_error
    expect(await pollError()).toMatch(/Permission denied/)

    await aBuild(app, world.org, pipeline)
    const run = await (await anAgent(app, world.token)).begin()
    const env = Object.fromEntries(
      Object.entries(run.env).map(([name, value]) => [
        name,
        value.replaceAll(app.ctx.config.url, app.address),
      ]),
    )
    const clone = (name: string) =>
      promisify(execFile)('git', ['clone', '-q', address, join(repository.root, name)], {
        env: {
          ...env,
          PATH: process.env['PATH'],
          HOME: repository.root,
          GIT_TERMINAL_PROMPT: '0',
          BUILDKITE_AGENT_ACCESS_TOKEN: run.token,
        },
      })
    await expect(clone('refused')).rejects.toThrow(/not found/)
    authorize(key.public_key)
    await clone('clone')
    expect(readFileSync(join(repository.root, 'clone/greeting'), 'utf8')).toBe('hello\n')

    const files = [...readFileSync(calls, 'utf8').matchAll(/-i (\S+)/g)].map(([, file = '']) => file)
    expect(files.length).toBeGreaterThan(3)
    expect(files.filter((file) => existsSync(file))).toEqual([])
    expect(app.logLines.join('') + JSON.stringify(run.job)).not.toContain('PRIVATE KEY')
  })
})
