// Repositories that somebody has prepared to overload the server, to mislead it, or to delay others.
import { once } from 'node:events'
import { appendFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, useOwnApp } from '../../test/app.ts'
import { aCluster, anAdmin, anOrganization, unique, type TestOrganization } from '../../test/builders.ts'
import { deliver, giteaEvent } from '../../test/deliveries.ts'
import { pollDue } from '../../test/polls.ts'
import { aGitHost, type TestGitHost } from '../../test/remote-hosts/git-host.ts'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import { runTasks } from '../tasks/run.ts'
import { handlers } from '../worker.ts'
import { claimDue, listDue, noteHost } from './poll-queries.ts'
import { enqueuePolls } from './poll.ts'

const app = useOwnApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
let host: TestGitHost
let org: TestOrganization
let token: string
beforeAll(async () => {
  host = await aGitHost()
  org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  token = admin.token
  await aCluster(app, org, admin)
})
afterAll(() => host.close())

const idsOf = (address: string) => ({ id: 1, full_name: 'app', private: false, clone_url: address })

/** A pipeline with a webhook that has worked once. */
async function aPipelineOf(repository: string, body: object = {}) {
  const made = await app.request('POST', `${org.path}/pipelines`, {
    token,
    body: { name: unique('hostile'), repository, configuration: 'steps: [{ command: make }]', ...body },
  })
  if (made.status !== 201) throw new Error(made.text)
  const id = String(made.body.id)
  const path = `${org.path}/pipelines/${String(made.body.slug)}`
  await deliver(app, { id }, giteaEvent('ping', { repository: idsOf(repository) }))
  const countBuilds = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from builds where pipeline_id = ${id}`.execute(app.db)
    return rows[0]?.count
  }
  const health = async () => (await app.request('GET', `${path}/repository_health`, { token })).body
  return { id, path, countBuilds, health }
}

const makeDue = (...ids: string[]) =>
  sql`
    update pipeline_polls set next_poll_at = now() - interval '1 second' where pipeline_id = any (${ids}::uuid[])`.execute(
    app.db,
  )

/** Until the given polls are due, none is. */
const makeNoneDue = () =>
  sql`update pipeline_polls set next_poll_at = now() + interval '1 hour'`.execute(app.db)

async function reconcile(id: string) {
  await makeNoneDue()
  await makeDue(id)
  await pollDue(app.ctx)
}

async function aRepositoryWithRefs(count: number) {
  const repository = await host.aRepository(unique('app'))
  const first = await repository.commit('main')
  const addRefs = () =>
    appendFile(
      join(repository.path, 'packed-refs'),
      Array.from({ length: count }, (_, index) => `${first} refs/heads/branch-${index}\n`).join(''),
    )
  return { repository, first, addRefs }
}

describe('a repository with 10,000 new branches', () => {
  it('makes 200 builds each time it is asked, and says how many wait', async () => {
    const { repository, addRefs } = await aRepositoryWithRefs(10_000)
    const pipeline = await aPipelineOf(repository.json.clone_url)
    await reconcile(pipeline.id)
    await addRefs()
    await reconcile(pipeline.id)
    expect(await pipeline.countBuilds()).toBe(200)
    expect(await pipeline.health()).toMatchObject({ reconcile_error: null, refs_waiting: 9800 })
    await reconcile(pipeline.id)
    expect(await pipeline.countBuilds()).toBe(400)
    expect(await pipeline.health()).toMatchObject({ reconcile_error: null, refs_waiting: 9600 })
  })

  it('makes none of those that the branch filter refuses', async () => {
    const { repository, addRefs } = await aRepositoryWithRefs(10_000)
    const pipeline = await aPipelineOf(repository.json.clone_url, { branch_configuration: 'main' })
    await reconcile(pipeline.id)
    await addRefs()
    await reconcile(pipeline.id)
    expect(await pipeline.countBuilds()).toBe(0)
  })

  it('makes none of those that were there before the first time', async () => {
    const { repository, addRefs } = await aRepositoryWithRefs(10_000)
    await addRefs()
    const pipeline = await aPipelineOf(repository.json.clone_url)
    await reconcile(pipeline.id)
    await reconcile(pipeline.id)
    expect(await pipeline.countBuilds()).toBe(0)
  })
})

describe('a host', () => {
  /** Repositories by the first part of their paths. */
  const serve: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {}
  const server = createServer((request, response) => {
    const name = request.url?.split('/')[1] ?? ''
    const answer = serve[name]
    if (answer === undefined) response.writeHead(404).end()
    else answer(request, response)
  })
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const addressOf = (name: string) =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}/app.git`

  it('that names refs which are no names has only the others built', async () => {
    const [a, b] = ['a'.repeat(40), 'b'.repeat(40)]
    const refs = new Map([['refs/heads/main', a]])
    serve['names'] = (request, response) => {
      if (request.url?.endsWith('/HEAD')) return response.end('ref: refs/heads/main\n')
      response.writeHead(200, { 'Content-Type': 'text/plain' })
      return response.end([...refs].map(([ref, commit]) => `${commit}\t${ref}\n`).join(''))
    }
    const pipeline = await aPipelineOf(addressOf('names'))
    await reconcile(pipeline.id)
    for (const name of ['-rf', '--upload-pack=x', 'a..b', 'a\u0007b', 'x'.repeat(5000), 'a^{}', '../../up']) {
      refs.set(`refs/heads/${name}`, b)
    }
    for (const ref of ['refs/pull/1/head', 'refs/heads/', 'HEAD', 'refs/notes/x']) refs.set(ref, b)
    refs.set('refs/heads/not-hex', '$(touch x)'.padEnd(40, 'z'))
    refs.set('refs/heads/good', b)
    await reconcile(pipeline.id)
    const { rows } = await sql`
      select branch, commit from builds where pipeline_id = ${pipeline.id}`.execute(app.db)
    const said = (await pipeline.health()).reconcile_error
    expect([said, rows]).toEqual([null, [{ branch: 'good', commit: b }]])
  })

  it('that does not answer delays no other', async () => {
    const isAsked = new Set<string>()
    serve['silent'] = ({ url = '' }) => void isAsked.add(url)
    const { repository } = await aRepositoryWithRefs(1)
    const silent = await Promise.all(Array.from({ length: 3 }, () => aPipelineOf(addressOf('silent'))))
    const other = await aPipelineOf(repository.json.clone_url)
    await makeNoneDue()
    await makeDue(...silent.map(({ id }) => id))
    const running = await runTasks(app.database.pool, app.ctx.log, app.ctx, handlers, { cron: {} })
    try {
      await enqueuePolls(app.ctx)
      await eventually('the silent host is asked', async () => isAsked.size > 0)
      await makeDue(other.id)
      await enqueuePolls(app.ctx)
      await eventually('the other is asked', async () => (await other.health()).reconciled_at !== null)
    } finally {
      server.closeAllConnections()
      await running.stop()
    }
    const answers = await Promise.all(silent.map(async ({ health }) => (await health()).reconciled_at))
    expect(answers).toEqual([null, null, null])
  })

  it('that failed the last time is asked after the others', async () => {
    const failed = await Promise.all(Array.from({ length: 9 }, () => aPipelineOf(addressOf('nowhere'))))
    await makeNoneDue()
    await makeDue(...failed.map(({ id }) => id))
    await pollDue(app.ctx)
    const { repository } = await aRepositoryWithRefs(1)
    const other = await aPipelineOf(repository.json.clone_url)
    await makeNoneDue()
    await makeDue(...failed.map(({ id }) => id), other.id)
    await sql`
      update pipeline_polls set next_poll_at = now() - interval '1 hour' where error is not null`.execute(
      app.db,
    )
    const due = await listDue(app.db, new Date().toISOString(), 0)
    // One host has five of them.
    expect([due.length, due[0]]).toEqual([5, other.id])
  })

  it('that was silent the last time has one poll at a time, and all such hosts half of them', async () => {
    const at = new Date().toISOString()
    const hosts = Array.from({ length: 6 }, (_, index) => `silent-${index}.example.com`)
    const silent: string[] = []
    for (const name of hosts) {
      for (let count = 0; count < 3; count += 1)
        silent.push((await aPipelineOf(`https://${name}/app-${count}.git`)).id)
    }
    const others = await Promise.all(
      ['a', 'b', 'c'].map((name) => aPipelineOf(`https://${name}.example.com/app.git`)),
    )
    await makeNoneDue()
    for (const host of hosts) await noteHost(app.db, host, { isSilent: true, at })
    await makeDue(...silent, ...others.map(({ id }) => id))
    const due = await listDue(app.db, new Date().toISOString(), 0)
    expect(new Set(due.slice(0, 3))).toEqual(new Set(others.map(({ id }) => id)))
    const hostsOfDue = due.slice(3).map((id) => Math.floor(silent.indexOf(id) / 3))
    expect([hostsOfDue.length, new Set(hostsOfDue).size]).toEqual([4, 4])
    const claim = { now: new Date().toISOString(), claim: newId() }
    await inTransaction(app.db, (trx) => claimDue(trx, due, claim))
    expect(await listDue(app.db, new Date().toISOString(), 0)).toEqual([])
    for (const host of hosts) await noteHost(app.db, host, { isSilent: false, at })
    expect((await listDue(app.db, new Date().toISOString(), 0)).length).toBeGreaterThan(0)
  })

  it('is noted as silent when it does not answer in time, and no longer when it answers', async () => {
    const { repository } = await aRepositoryWithRefs(1)
    const pipeline = await aPipelineOf(repository.json.clone_url)
    await noteHost(app.db, '127.0.0.1', { isSilent: true, at: new Date().toISOString() })
    await reconcile(pipeline.id)
    const { rows } = await sql`select from silent_hosts where host = '127.0.0.1'`.execute(app.db)
    expect(rows).toEqual([])
  })
})

describe('a delivery with a genuine signature', () => {
  const secret = 'a secret that all webhooks of the host share'

  it('for another repository builds nothing, and has nothing asked or stored', async () => {
    const { repository, first } = await aRepositoryWithRefs(1)
    const connection = await app.request('POST', `${org.path}/repository_connections`, {
      token,
      body: { type: 'gitea', url: host.address, webhook_secret: secret },
    })
    expect(connection.status).toBe(201)
    const other = await host.aRepository(unique('other'))
    const pipeline = await aPipelineOf(repository.json.clone_url)
    const push = giteaEvent('push', {
      ref: 'refs/heads/main',
      before: '0'.repeat(40),
      after: first,
      repository: other.json,
      head_commit: { id: first, message: 'Mine' },
    })
    const answer = await deliver(app, pipeline, push, { secret })
    expect([answer.status, answer.body.message]).toEqual([
      200,
      expect.stringMatching(/about another repository/),
    ])
    expect(await pipeline.countBuilds()).toBe(0)
    const { rows } = await sql`
      select from pipeline_polls where pipeline_id = ${pipeline.id}
      union all select from repository_pushes where pipeline_id = ${pipeline.id}`.execute(app.db)
    expect(rows).toEqual([])
    const unsigned = await deliver(app, pipeline, push)
    expect(unsigned.status).toBe(401)
  })
})
