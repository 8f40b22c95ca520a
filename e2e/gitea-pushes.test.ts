// Pushes to a real Gitea whose deliveries are lost, late, doubled or in another order, while the server is restarted in between.
import { execFileSync } from 'node:child_process'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { giteaLacks, startGitea, type Gitea } from '../testbed/src/gitea.ts'
import { needing } from '../testbed/src/needing.ts'
import { aDataDirectory, aSharedDirectory, eventually, startServer, stop, type Server } from './millrace.ts'

const { it } = needing('programs', giteaLacks)

const org = '/v2/organizations/default'
const repo = '/repos/acme/app'
const secret = 'a secret of the host'
const pushes = 30

interface Sent {
  commit: string
  headers: Record<string, string>
  body: string
}

it('builds each commit that was delivered, or that a branch showed when it was looked at, exactly once', async () => {
  const gitea = await startGitea(aSharedDirectory())
  onTestFinished(gitea.stop)
  await made(gitea, '/orgs', { username: 'acme', visibility: 'private' })
  await made(gitea, '/orgs/acme/repos', { name: 'app', private: true, default_branch: 'main' })
  const post = await aPostOffice()
  const settings = { MILLRACE_DATA_DIR: aDataDirectory(), MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' }
  let server: Server = await startServer(settings)
  const { token } = server
  const connection = { type: 'gitea', url: gitea.url, token: gitea.token, webhook_secret: secret }
  expect((await server.post(`${org}/repository_connections`, connection, token)).status).toBe(201)
  const { body: created } = await server.post(
    `${org}/pipelines`,
    {
      name: 'Pushes',
      repository: `${gitea.url}/acme/app.git`,
      configuration: 'steps: [{ command: make, agents: { from: nowhere } }]',
    },
    token,
  )
  const pipeline = `${org}/pipelines/${String(created['slug'])}`
  const address = new URL(String(created['provider']?.['webhook_url'])).pathname

  const dice = diceOf(20261119)
  const work = aClone(gitea)
  const mustBeBuilt = new Set<string>()
  const held: Sent[] = []
  let hook = await addHook(gitea, post.url)
  const forward = async ({ commit, headers, body }: Sent) => {
    const answer = await fetch(server.url + address, { method: 'POST', headers, body })
    expect([commit, answer.status]).toEqual([commit, 200])
    mustBeBuilt.add(commit)
  }
  const release = async () => {
    for (const sent of held.splice(0).toSorted(() => dice() - 0.5)) await forward(sent)
  }
  const lookOnce = async () => {
    const health = `${pipeline}/repository_health`
    const { body: before } = await server.get(health, token)
    expect((await server.post(`${health}/reconcile`, {}, token)).status).toBe(200)
    await eventually('the repository was looked at', async () => {
      const { body } = await server.get(health, token)
      return body['reconciled_at'] !== before['reconciled_at'] && Number(body['refs_waiting']) === 0
    })
  }
  const look = async () => {
    // The first one may have begun by itself, before the last push.
    await lookOnce()
    await lookOnce()
    for (const commit of work.heads()) mustBeBuilt.add(commit)
  }

  // The first delivery begins the ledger, and the first look builds nothing.
  await forward(await post.next(work.push('main')))
  await look()
  for (let count = 1; count < pushes; count++) {
    if (count === 12) await deleteHook(gitea, hook)
    if (count === 18) hook = await addHook(gitea, post.url)
    const commit = work.push(`branch-${Math.floor(dice() * 4)}`)
    if (count < 12 || count >= 18) {
      const sent = await post.next(commit)
      const luck = dice()
      if (luck < 0.3) await forward(sent)
      else if (luck < 0.5) await Promise.all([forward(sent), forward(sent)])
      else if (luck < 0.8) held.push(sent)
    }
    if (count === 9 || count === 21) {
      await stop(server)
      server = await startServer(settings)
    }
    if (count % 7 === 6) await release()
    if (count % 5 === 4) await look()
  }
  await release()
  await look()

  const builds = Object.values((await server.get(`${pipeline}/builds?per_page=100`, token)).body)
  const built = builds.map(({ commit }) => String(commit)).toSorted()
  expect(built).toEqual([...new Set(built)])
  expect([...mustBeBuilt].filter((commit) => !built.includes(commit))).toEqual([])
  expect(built.filter((commit) => !work.all().includes(commit))).toEqual([])
  expect(new Set(builds.map(({ found_by }) => String(found_by)))).toEqual(new Set(['webhook', 'reconcile']))
  await stop(server)
})

/** Takes Gitea's deliveries, and has each for whoever asks for it by its commit. */
async function aPostOffice() {
  const arrived = new Map<string, Sent>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const { after } = JSON.parse(body) as { after: string }
      arrived.set(after, { commit: after, headers: textsOf(request.headers), body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    next: (commit: string) => eventually(`Gitea tells of ${commit}`, async () => arrived.get(commit)),
  }
}

/** Of the request itself, without those of its connection. */
const textsOf = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      /^(?:x-|content-type)/.test(name) ? [[name, String(value)]] : [],
    ),
  )

async function made(gitea: Gitea, path: string, body: object): Promise<unknown> {
  const answer = await gitea.api('POST', path, body)
  expect([path, answer.status]).toEqual([path, 201])
  return answer.body
}

async function addHook(gitea: Gitea, url: string): Promise<number> {
  const config = { url, content_type: 'json', secret }
  const body = { type: 'gitea', active: true, events: ['push'], config }
  return ((await made(gitea, `${repo}/hooks`, body)) as { id: number }).id
}

async function deleteHook(gitea: Gitea, id: number): Promise<void> {
  expect((await gitea.api('DELETE', `${repo}/hooks/${id}`)).status).toBe(204)
}

/** The same numbers in each run. */
function diceOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function aClone({ url, token }: Gitea) {
  const folder = join(aSharedDirectory(), 'work')
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const run = (...args: string[]) =>
    execFileSync('git', [...identity, ...args], { env, encoding: 'utf8' }).trim()
  const address = new URL('/acme/app.git', url)
  Object.assign(address, { username: 'root', password: token })
  run('init', '--quiet', '--initial-branch=main', folder)
  const git = (...args: string[]) => run('-C', folder, ...args)
  git('remote', 'add', 'origin', address.href)
  const all: string[] = []
  return {
    all: () => all,
    /** A new commit at the end of the branch. */
    push(branch: string): string {
      git('commit', '--quiet', '--allow-empty', '-m', `Commit ${all.length}`)
      const commit = git('rev-parse', 'HEAD')
      git('push', '--quiet', '--force', 'origin', `HEAD:refs/heads/${branch}`)
      all.push(commit)
      return commit
    },
    heads: () =>
      git('ls-remote', '--heads', 'origin')
        .split('\n')
        .map((line) => line.slice(0, 40)),
  }
}
