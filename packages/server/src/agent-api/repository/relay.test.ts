// The repository of a pipeline, relayed to real git with the credentials of a connection, and those who want more of it.
import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  aHostedRepository,
  startGitHost,
  type GitHost,
  type HostedRepository,
} from '../../../../../testbed/src/git-host.ts'
import { anAgent, anAgentWorld, call, type AgentWorld, type TestRun } from '../../../test/agent-client.ts'
import { useOwnApp } from '../../../test/app.ts'
import { aPipeline } from '../../../test/builders.ts'
import { aBuild } from '../../../test/runs.ts'
import type { BuildRequest } from '../../conductor/build.ts'
import { writePackets } from '../../source-hosts/pkt-lines.ts'

const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '0', MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
const token = 'gitea-token-that-may-write'

let repository: HostedRepository
let host: GitHost
let main: string
let secret: string
let head: string
beforeAll(async () => {
  repository = await aHostedRepository()
  main = await repository.push('refs/heads/main', { greeting: 'hello\n' })
  secret = await repository.push('refs/heads/secret', { plan: 'buy the world\n' })
  await repository.git('reset', '--quiet', '--hard', main)
  head = await repository.push('refs/pull/7/head', { change: 'by a fork\n' })
  await repository.git('reset', '--quiet', '--hard', main)
  await repository.push('refs/pull/70/head', { change: 'by another\n' })
  host = await startGitHost({
    root: repository.root,
    mayRead: (password, path) => password === token && path.startsWith('/acme/app.git/'),
  })
})
afterAll(async () => {
  host.close()
  await repository.remove()
})
beforeEach(() => void host.seen.splice(0))

const addressAt = (port: number) => `http://127.0.0.1:${port}/acme/app.git`

interface Given {
  connection?: object
  repository?: string
  build?: Partial<BuildRequest>
}

async function aJob({ connection, repository: at = addressAt(host.port), build }: Given = {}) {
  const world = await anAgentWorld(app)
  const connected = await connect(world, connection)
  const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]', {
    repository: at,
    provider_id: 'gitea',
  })
  await aBuild(app, world.org, pipeline, { commit: main, ...build })
  const run = await (await anAgent(app, world.token)).begin()
  return { world, run, pipeline, connection: connected }
}

async function connect(world: AgentWorld, more: object = {}): Promise<string> {
  const body = { type: 'gitea', url: `http://127.0.0.1:${host.port}`, token, ...more }
  const path = `${world.org.path}/repository_connections`
  const made = await app.request('POST', path, { token: world.admin.token, body })
  if (made.status !== 201) throw new Error(made.text)
  return `${path}/${String(made.body.id)}`
}

const pull = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: true }
const ofFork = () =>
  ({ commit: head, commitOrigin: 'fork', branch: 'mallory:main', pullRequest: pull }) as const

/** As a public agent runs it: with the variables of the job. */
async function git(run: TestRun, args: string[], env: Record<string, string> = {}) {
  // Tests listen on any port.
  const given = Object.entries(run.env).map(([name, value]) => [
    name,
    value.replaceAll(app.ctx.config.url, app.address),
  ])
  const options = {
    cwd: repository.root,
    env: {
      ...Object.fromEntries(given),
      PATH: process.env['PATH'] ?? '',
      HOME: repository.root,
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_NOSYSTEM: '1',
      BUILDKITE_AGENT_ACCESS_TOKEN: run.token,
      ...env,
    },
  }
  return await promisify(execFile)('git', args, options).then(
    ({ stdout, stderr }) => ({ ok: true, said: stdout + stderr }),
    (error: { stdout: string; stderr: string }) => ({ ok: false, said: error.stdout + error.stderr }),
  )
}

let clones = 0
async function clone(run: TestRun, address = addressAt(host.port)) {
  const folder = join(repository.root, `clone-${(clones += 1)}`)
  const cloned = await git(run, ['clone', '-v', '--', address, folder])
  return { ...cloned, folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

const relay = (run: TestRun) => `jobs/${run.id}/repository.git`
const refsOf = (run: TestRun) => `${relay(run)}/info/refs?service=git-upload-pack`

describe('a repository that the server relays', () => {
  it('is cloned with the token of the connection, which stays on the server', async () => {
    const { run } = await aJob()
    const { ok, said, folder } = await clone(run)
    expect(ok).toBe(true)
    expect(await readFile(join(folder, 'greeting'), 'utf8')).toBe('hello\n')
    expect((await git(run, ['-C', folder, 'fetch', '-v', '--', 'origin', secret])).ok).toBe(true)
    expect(new Set(host.seen.map(({ password }) => password))).toEqual(new Set([token]))
    const config = await readFile(join(folder, '.git/config'), 'utf8')
    expect(config).toContain(`url = ${addressAt(host.port)}\n`)
    const shown = [JSON.stringify(run.job), said, config, app.logLines.join('')].join('\n')
    expect(shown).not.toContain(token)
    expect([config, said].join('\n')).not.toContain(run.token)
  })

  it('is configured by agents themselves that can', async () => {
    const { world, pipeline } = await aJob()
    const agent = await anAgent(app, world.token)
    await app.db
      .updateTable('agents')
      .set({ features: ['repository-relay'] })
      .where('id', '=', agent.id)
      .execute()
    await aBuild(app, world.org, pipeline, { commit: main })
    const { job, env } = await agent.begin()
    expect(job.repository_relay).toBe(true)
    expect(Object.keys(env).filter((name) => name.startsWith('GIT_'))).toEqual([])
  })

  it('keeps what a step configures for git', async () => {
    const { run } = await aJob({
      build: { env: { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Bo' } },
    })
    expect([run.env['GIT_CONFIG_COUNT'], run.env['GIT_CONFIG_KEY_0']]).toEqual(['5', 'user.name'])
    expect((await clone(run)).ok).toBe(true)
  })

  it('cannot be written to: a push goes to the host, with the credentials of the agent', async () => {
    const { run } = await aJob()
    const { folder } = await clone(run)
    host.seen.splice(0)
    const pushed = await git(run, ['-C', folder, 'push', 'origin', 'HEAD:refs/heads/mine'])
    expect([pushed.ok, pushed.said]).toEqual([false, expect.stringMatching(/could not read Username/)])
    expect(host.seen.map(({ password }) => password)).toEqual([null])
    for (const path of ['info/refs?service=git-receive-pack', 'info/refs']) {
      expect((await run.call('GET', `${relay(run)}/${path}`)).status).toBe(403)
    }
    expect((await run.call('POST', `${relay(run)}/git-receive-pack`)).status).toBe(404)
  })

  it('is for the job alone, and as long as it runs', async () => {
    const [one, other] = [await aJob(), await aJob()]
    expect((await other.run.call('GET', refsOf(one.run))).status).toBe(403)
    const anonymous = await call(app, null, 'GET', refsOf(one.run))
    expect([anonymous.status, anonymous.headers['www-authenticate']]).toEqual([401, 'Basic realm="Millrace"'])
    await one.run.finish()
    expect((await one.run.call('GET', refsOf(one.run))).status).toBe(401)
    expect(host.seen).toEqual([])
  })

  it('leaves git to the repository itself where the token is refused, or is not there any more', async () => {
    const refused = await aJob({ connection: { token: 'an-expired-token' } })
    const answer = await refused.run.call('GET', refsOf(refused.run))
    expect([answer.status, answer.headers['location']]).toEqual([
      302,
      `${addressAt(host.port)}/info/refs?service=git-upload-pack`,
    ])
    const gone = await aJob()
    await app.request('DELETE', gone.connection, { token: gone.world.admin.token })
    expect((await gone.run.call('GET', refsOf(gone.run))).status).toBe(302)
    expect((await gone.run.call('POST', `${relay(gone.run)}/git-upload-pack`)).status).toBe(404)
  })

  it('needs an administrator to allow it', async () => {
    const { run, world, connection, pipeline } = await aJob({ connection: { checkout_enabled: false } })
    expect(run.env).not.toHaveProperty('GIT_CONFIG_COUNT')
    expect((await run.call('GET', refsOf(run))).status).toBe(302)
    expect(host.seen).toEqual([])
    const body = { checkout_enabled: true }
    await app.request('PATCH', connection, { token: world.admin.token, body })
    await aBuild(app, world.org, pipeline, { commit: main })
    const next = await (await anAgent(app, world.token)).begin()
    expect((await clone(next)).ok).toBe(true)
  })

  it.each(['another port', 'another path', 'another repository of the host'])(
    'sends the token to no other place: %s',
    async (what) => {
      const thief = await startGitHost({ root: repository.root, mayRead: () => false })
      try {
        const at = {
          'another port': addressAt(thief.port),
          'another path': `http://127.0.0.1:${host.port}/other/app.git`,
          'another repository of the host': addressAt(host.port),
        }[what]
        const connection = what === 'another path' ? { url: `http://127.0.0.1:${host.port}/forge` } : {}
        const { run } = await aJob({ connection, ...(at === undefined ? {} : { repository: at }) })
        const asked =
          what === 'another repository of the host' ? `${relay(run)}/../../other.git/info/refs` : refsOf(run)
        expect([302, 404]).toContain((await run.call('GET', asked)).status)
        for (const url of [at, addressAt(thief.port), 'http://127.0.0.1/acme/other.git']) {
          const body = { repo_url: url }
          expect((await run.call('POST', `jobs/${run.id}/repository_access_token`, { body })).status).toBe(
            422,
          )
        }
        expect([...host.seen, ...thief.seen].filter(({ password }) => password !== null)).toEqual([])
      } finally {
        thief.close()
      }
    },
  )
})

describe('a repository that the server relays to a fork’s job', () => {
  it('is its own pull request, again and again, and nothing else', async () => {
    const { run } = await aJob({ build: ofFork() })
    const { ok, folder } = await clone(run)
    expect(ok).toBe(true)
    const fetch = (ref: string) => git(run, ['-C', folder, 'fetch', '--', 'origin', ref])
    expect((await fetch('refs/pull/7/head')).ok).toBe(true)
    expect((await git(run, ['-C', folder, 'checkout', '-f', head])).ok).toBe(true)
    expect(await readFile(join(folder, 'change'), 'utf8')).toBe('by a fork\n')
    expect((await git(run, ['-C', folder, 'ls-remote', 'origin'])).said).toContain(
      `${head}\trefs/pull/7/head`,
    )
    for (const ref of [secret, 'secret', 'refs/pull/70/head', 'main']) {
      expect([ref, (await fetch(ref)).ok]).toEqual([ref, false])
    }
    expect((await fetch(secret)).said).toContain('Jobs of forks get the commit of their pull request')
    expect((await git(run, ['-C', folder, 'cat-file', '-e', secret])).ok).toBe(false)
    expect((await fetch(head)).ok).toBe(true)
    const newer = await repository.push('refs/pull/7/head', { change: 'by a fork again\n' })
    expect((await fetch('refs/pull/7/head')).ok).toBe(true)
    expect((await git(run, ['-C', folder, 'cat-file', '-e', newer])).ok).toBe(true)
    await repository.git('push', '--quiet', '--force', repository.bare, `${head}:refs/pull/7/head`)
  })

  it('is read with protocol 2 alone, however the job asks', async () => {
    const { run } = await aJob({ build: ofFork() })
    const old = await git(run, ['-c', 'protocol.version=0', 'ls-remote', addressAt(host.port)])
    expect([old.ok, old.said]).toEqual([false, expect.stringMatching(/Authentication failed/)])
    expect(host.seen.map(({ password }) => password)).toEqual([null])
    const wanting = (...lines: string[]) =>
      writePackets(['command=fetch\n', 'object-format=sha1\n', 'delimiter', ...lines, 'done\n', 'flush'])
    const ask = async (body: Buffer, headers: Record<string, string> = { 'Git-Protocol': 'version=2' }) => {
      const answer = await fetch(`${app.address}/v3/${relay(run)}/git-upload-pack`, {
        method: 'POST',
        headers: { Authorization: `Token ${run.token}`, ...headers },
        body: new Uint8Array(body),
      })
      return { status: answer.status, text: await answer.text() }
    }
    expect((await ask(wanting(`want ${head}\n`))).text).toContain('packfile')
    for (const [body, headers] of [
      [wanting(`want ${head}\n`, `want ${secret}\n`)],
      [wanting('want-ref refs/heads/secret\n')],
      [wanting(`want ${secret} \n`)],
      [wanting(`want ${secret}\n`), { 'Git-Protocol': 'version=1' }],
      [gzipSync(wanting(`want ${secret}\n`)), { 'Git-Protocol': 'version=2', 'Content-Encoding': 'gzip' }],
      [writePackets(['command=object-info\n', 'delimiter', 'size\n', `oid ${secret}\n`, 'flush'])],
      [writePackets([`want ${secret} multi_ack\n`, 'flush', 'done\n'])],
      [Buffer.from('0fff')],
    ] as Array<[Buffer, Record<string, string>?]>) {
      const { status, text } = await ask(body, headers)
      expect([status === 403 || !text.includes('packfile'), text.includes(secret)]).toEqual([true, false])
    }
    const claiming = [`want ${head}\n`, `have ${secret}\n`, 'thin-pack\n']
    const claimed = await ask(
      writePackets(['command=fetch\n', 'object-format=sha1\n', 'delimiter', ...claiming, 'flush']),
    )
    expect(claimed.text).toBe(writePackets(['acknowledgments\n', 'NAK\n', 'flush']).toString())
    expect((await ask(wanting(...claiming))).text).toContain('packfile')
    const listed = await ask(
      writePackets(['command=ls-refs\n', 'delimiter', 'symrefs\n', 'ref-prefix refs/heads/\n', 'flush']),
    )
    expect(listed.text).toBe(writePackets([`${head} refs/pull/7/head\n`, 'flush']).toString())
  })

  it('is not there for what the fork’s build has triggered, and no fork gets a token', async () => {
    const { run, world, pipeline } = await aJob({ build: ofFork() })
    const refusal = await run.call('POST', `jobs/${run.id}/repository_access_token`, { body: {} })
    expect(refusal.status).toBe(403)
    const { id } = await app.db
      .selectFrom('builds')
      .select('id')
      .where('pipeline_id', '=', pipeline.id)
      .executeTakeFirstOrThrow()
    const triggered = await aBuild(app, world.org, pipeline, { commit: secret })
    await app.db
      .updateTable('builds')
      .set({ triggered_from: JSON.stringify({ build_id: id }) })
      .where('id', '=', triggered.id)
      .execute()
    const next = await (await anAgent(app, world.token)).begin()
    host.seen.splice(0)
    expect((await next.call('GET', refsOf(next))).status).toBe(302)
    expect((await next.call('POST', `${relay(next)}/git-upload-pack`)).status).toBe(403)
    expect(host.seen).toEqual([])
  })
})
