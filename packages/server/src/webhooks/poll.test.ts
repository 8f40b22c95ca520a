import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually, startApp, type TestApp } from '../../test/app.ts'
import { aCluster, anAdmin, anOrganization, unique, type TestOrganization } from '../../test/builders.ts'
import { aRepository, type TestRepository } from '../../test/remote-hosts/git.ts'
import { pollDue } from '../../test/polls.ts'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import { lsRemote, readRefs } from './ls-remote.ts'
import { runTasks } from '../tasks/run.ts'
import { handlers } from '../worker.ts'
import * as polls from './poll-queries.ts'
import { enqueuePolls } from './poll.ts'

let repository: TestRepository
let app: TestApp
let twin: TestApp
let org: TestOrganization
let token: string
beforeAll(async () => {
  repository = await aRepository()
  await repository.commit('Begin')
  await repository.git('push', '--quiet', 'origin', 'main')
  const env = { MILLRACE_POLL_DIRECTORIES: repository.directory }
  app = await startApp({ env })
  twin = await startApp({ env }, app.database)
  org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  token = admin.token
  await aCluster(app, org, admin)
})
afterAll(async () => {
  await twin.close()
  await app.close()
  await repository.remove()
})

async function aPolled(body: object = {}) {
  const made = await app.request('POST', `${org.path}/pipelines`, {
    token,
    body: {
      name: unique('polled'),
      repository: repository.bare,
      configuration: 'steps: [{ command: make }]',
      poll_interval_seconds: 60,
      ...body,
    },
  })
  if (made.status !== 201) throw new Error(made.text)
  const path = `${org.path}/pipelines/${String(made.body.slug)}`
  const builds = async () =>
    (await app.request('GET', `${path}/builds`, { token })).list.map(({ branch, commit, tag, source }) => {
      return { branch, commit, tag, source }
    })
  const show = async () => (await app.request('GET', path, { token })).body
  return { id: String(made.body.id), path, builds, show }
}

/** As if every interval had passed. */
const pollNow = async (...apps: TestApp[]) => {
  await sql`update pipeline_polls set next_poll_at = now() - interval '1 second'`.execute(app.db)
  await Promise.all((apps.length === 0 ? [app] : apps).map(({ ctx }) => pollDue(ctx)))
}

describe('poll_interval_seconds', () => {
  it('builds what has moved since the last time, and not what was there before', async () => {
    const pipeline = await aPolled({
      provider_settings: { build_tags: true, cancel_deleted_branch_builds: true },
    })
    await pollNow()
    expect(await pipeline.builds()).toEqual([])
    const commit = await repository.commit('Go on')
    await repository.git('tag', '-f', '-a', 'v1', '-m', 'One')
    await repository.git('push', '--quiet', '--force', 'origin', 'main', 'v1', 'main:feature')
    await pollNow()
    await pollNow()
    expect(
      (await pipeline.builds()).toSorted((a, b) => String(a.branch).localeCompare(String(b.branch))),
    ).toEqual([
      { branch: 'feature', commit, tag: null, source: 'webhook' },
      { branch: 'main', commit, tag: null, source: 'webhook' },
      { branch: 'v1', commit, tag: 'v1', source: 'webhook' },
    ])
    await repository.git('push', '--quiet', 'origin', ':feature')
    await pollNow()
    const canceled = await app.request('GET', `${pipeline.path}/builds?branch=feature`, { token })
    expect(canceled.list.map(({ state }) => state)).toEqual(['canceled'])
  })

  it('builds each commit once, however many workers look', async () => {
    const pipeline = await aPolled()
    await pollNow()
    const commit = await repository.commit('For two')
    await repository.git('push', '--quiet', 'origin', 'main')
    await pollNow(app, twin, app, twin)
    await pollNow(app, twin)
    expect(await pipeline.builds()).toEqual([{ branch: 'main', commit, tag: null, source: 'webhook' }])
  })

  it('does nothing with an answer that came after somebody else had asked', async () => {
    const { id } = await aPolled()
    await pollNow()
    const claim = async () => {
      await sql`
        update pipeline_polls set next_poll_at = now() - interval '1 hour' where pipeline_id = ${id}`.execute(
        app.db,
      )
      const claimed = await inTransaction(app.db, (trx) =>
        polls.claimDue(trx, [id], { now: new Date().toISOString(), claim: newId() }),
      )
      const own = claimed.find(({ pipeline_id: pipeline }) => pipeline === id)
      if (own === undefined) throw new Error('It was not claimed.')
      return own
    }
    const [early, late] = [await claim(), await claim()]
    const holds = (own: polls.PollClaim) => inTransaction(app.db, (trx) => polls.holdClaim(trx, own))
    expect([await holds(early), await holds(late)]).toEqual([false, true])
    await polls.recordError(app.db, early, 'too late')
    const kept = app.db.selectFrom('pipeline_polls').select('error').where('pipeline_id', '=', id)
    expect(await kept.executeTakeFirst()).toEqual({ error: null })
  })

  it('obeys the branch filter, and begins anew for another repository or when switched off and on', async () => {
    const pipeline = await aPolled({ branch_configuration: 'main' })
    await pollNow()
    await repository.commit('Elsewhere')
    await repository.git('push', '--quiet', 'origin', 'main:other')
    await pollNow()
    expect(await pipeline.builds()).toEqual([])
    await app.request('PATCH', pipeline.path, { token, body: { poll_interval_seconds: null } })
    await pollNow()
    await repository.git('push', '--quiet', 'origin', 'main')
    await app.request('PATCH', pipeline.path, { token, body: { poll_interval_seconds: 30 } })
    await pollNow()
    expect(await pipeline.builds()).toEqual([])
  })

  it('says in poll_error why a repository could not be asked, and that it could again', async () => {
    const pipeline = await aPolled({ repository: `${repository.directory}/nothing.git` })
    await pollNow()
    expect((await pipeline.show()).poll_error).toMatch(/not at an https, http, ssh or git address/)
    await app.request('PATCH', pipeline.path, { token, body: { repository: repository.bare } })
    await pollNow()
    expect((await pipeline.show()).poll_error).toBeNull()
  })

  it.each([29, 86_401, 1.5, '60'])('answers 422 to %j', async (poll_interval_seconds) => {
    const pipeline = await aPolled()
    const answer = await app.request('PATCH', pipeline.path, { token, body: { poll_interval_seconds } })
    expect([answer.status, answer.body.errors?.[0]?.field]).toEqual([422, 'poll_interval_seconds'])
  })

  it('is carried out by tasks, of which a few wait at a time', async () => {
    const made = await Promise.all(Array.from({ length: 9 }, () => aPolled()))
    await sql`update pipeline_polls set next_poll_at = now() + interval '1 hour'`.execute(app.db)
    await enqueuePolls(app.ctx)
    await enqueuePolls(app.ctx)
    const count = () =>
      sql<{ count: number }>`
        select count(*)::int as count from graphile_worker.jobs where task_identifier = 'poll_repository'`.execute(
        app.db,
      )
    expect((await count()).rows).toEqual([{ count: 8 }])
    const running = await runTasks(app.database.pool, app.ctx.log, app.ctx, handlers, { cron: {} })
    try {
      await eventually('all are polled', async () => {
        await enqueuePolls(app.ctx)
        const rows = await app.db
          .selectFrom('pipeline_polls')
          .select('pipeline_id')
          .where(
            'pipeline_id',
            'in',
            made.map(({ id }) => id),
          )
          .where('polled_at', 'is not', null)
          .execute()
        return rows.length === 9
      })
    } finally {
      await running.stop()
    }
  })
})

describe('lsRemote', () => {
  const options = { allow: '', directories: [], credentials: null }
  const reasonOf = async (address: string, more: object = {}) => {
    const answer = await lsRemote(address, { ...options, ...more })
    return answer.ok ? 'ok' : answer.reason
  }

  it('reads branches and tags, and of annotated tags the commit', () => {
    const [a, b] = ['a'.repeat(40), 'b'.repeat(40)]
    const lines = [`${a}\trefs/heads/main`, `${a}\trefs/tags/v1`, `${b}\trefs/tags/v1^{}`, `${a}\tHEAD`, 'x']
    expect([...readRefs(lines.join('\n'))]).toEqual([
      ['refs/heads/main', a],
      ['refs/tags/v1', b],
    ])
  })

  it.each([
    'https://127.0.0.1/app.git',
    'http://localhost/app.git',
    'http://169.254.169.254/latest/meta-data',
    'http://2130706433/app.git',
    'ssh://git@10.0.0.1/app.git',
    'git@127.0.0.1:app.git',
    'git://192.168.1.1/app.git',
    'https://[::1]/app.git',
  ])('does not go to %s', async (address) => {
    expect(await reasonOf(address)).toMatch(/does not lead to a public address|has no usable host/)
  })

  it('does not use the ssh keys of the operator, unless the organization may', async () => {
    const allowed = { allow: '127.0.0.0/8' }
    for (const address of ['ssh://git@127.0.0.1:1/app.git', 'git@127.0.0.1:app.git']) {
      expect(await reasonOf(address, allowed)).toContain('MILLRACE_POLL_SSH_ORGANIZATIONS')
      expect(await reasonOf(address, { ...allowed, mayUseSshKeys: true })).not.toContain('MILLRACE_POLL')
    }
  })

  it('does not use the passwords in the home of the operator', async () => {
    const sent: Array<string | undefined> = []
    const server = createServer((request, response) => {
      sent.push(request.headers.authorization)
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="a"' }).end()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const home = await mkdtemp(join(tmpdir(), 'mr-home-'))
    await writeFile(join(home, '.netrc'), 'machine 127.0.0.1 login ada password swordfish\n', { mode: 0o600 })
    await writeFile(join(home, '.git-credentials'), 'http://ada:swordfish@127.0.0.1\n', { mode: 0o600 })
    vi.stubEnv('HOME', home)
    try {
      const { port } = server.address() as AddressInfo
      const reason = await reasonOf(`http://127.0.0.1:${port}/app.git`, { allow: '127.0.0.0/8' })
      expect(reason).not.toBe('ok')
      expect(sent.length).toBeGreaterThan(0)
      expect(sent.filter(Boolean)).toEqual([])
    } finally {
      vi.unstubAllEnvs()
      server.close()
      await rm(home, { recursive: true })
    }
  })

  it('reads no directory but those the operator allows, also by way of links and other protocols', async () => {
    const { directory, bare } = repository
    const outside = await aRepository()
    try {
      await symlink(outside.bare, join(directory, 'link.git'))
      const allowed = { directories: [directory] }
      expect(await reasonOf(bare, allowed)).toBe('ok')
      expect(await reasonOf(`file://${bare}`, allowed)).toBe('ok')
      for (const address of [
        outside.bare,
        `file://${outside.bare}`,
        join(directory, 'link.git'),
        `${directory}/../${outside.bare}`,
        'app.git',
        'ext::sh -c touch% /tmp/pwned',
        '--upload-pack=touch /tmp/pwned',
      ]) {
        expect([address, await reasonOf(address, allowed)]).toEqual([
          address,
          expect.stringMatching(/MILLRACE_POLL_DIRECTORIES/),
        ])
      }
      expect(await reasonOf(bare)).toMatch(/MILLRACE_POLL_DIRECTORIES/)
    } finally {
      await outside.remove()
    }
  })

  describe('over http', () => {
    let server: Server
    let seen: Array<{ host: string | undefined; authorization: string | undefined }>
    let answer: (url: string) => { status: number; headers?: Record<string, string>; body?: string } | null
    beforeAll(async () => {
      server = createServer((request, response) => {
        seen.push({ host: request.headers.host, authorization: request.headers.authorization })
        const given = answer(request.url ?? '')
        if (given === null) return
        response.writeHead(given.status, given.headers).end(given.body)
      })
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    })
    afterAll(() => {
      server.closeAllConnections()
      server.close()
    })
    const at = (name: string) => `http://${name}:${(server.address() as AddressInfo).port}/app.git`
    const local = { allow: '127.0.0.0/8 ::1/128' }

    it('connects to the checked address, under the given name, and follows no redirect', async () => {
      seen = []
      answer = () => ({ status: 302, headers: { Location: 'http://169.254.169.254/' } })
      expect(await reasonOf(at('localhost'), local)).toMatch(/git could not ask the repository/)
      expect(seen).toHaveLength(1)
      expect(seen[0]?.host).toMatch(/^localhost:/)
    })

    it('does not let git resolve the name once more', async () => {
      seen = []
      answer = () => ({ status: 404 })
      // Only this resolver knows the name, so git must have been given the address.
      const resolve = async () => ['10.0.0.1', '127.0.0.1']
      await reasonOf(at('nowhere.invalid'), { ...local, resolve })
      expect(seen.map(({ host }) => host?.split(':')[0])).toContain('nowhere.invalid')
    })

    it('never prompts for a password, sends credentials only over TLS, and does not repeat them', async () => {
      seen = []
      answer = () => ({ status: 401, headers: { 'WWW-Authenticate': 'Basic realm="x"' } })
      const secret = { username: 'oauth2', password: 'hunter2-hunter2' }
      const said = await reasonOf(at('localhost').replace('://', '://ada:s3cr3t@'), {
        ...local,
        credentials: secret,
      })
      expect(said).toMatch(/git could not ask/)
      expect(said).not.toMatch(/s3cr3t|hunter2/)
      expect(JSON.stringify(seen)).not.toContain(Buffer.from('oauth2:hunter2-hunter2').toString('base64'))
    })

    it('gives up on who does not answer', async () => {
      seen = []
      answer = () => null
      expect(await reasonOf(at('localhost'), { ...local, timeoutMs: 300 })).toBe(
        'No answer within 0.3 seconds.',
      )
    })
  })
})
