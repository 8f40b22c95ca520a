// A real Gitea with a private repository: its webhooks, pushes, tags, pull requests, statuses and protected branches.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { giteaLacks, startGitea, type Gitea } from '../testbed/src/gitea.ts'
import { needing } from '../testbed/src/needing.ts'
import { aSharedDirectory, eventually, millrace, theServer } from './millrace.ts'

const { it } = needing('programs', giteaLacks)

const org = '/v2/organizations/default'
const repo = '/repos/acme/app'

interface Build {
  number: number
  branch: string
  commit: string
  state: string
  tag: string | null
  pull_request: { id: string } | null
  jobs: Array<{ id: string }>
}

it('builds what is pushed to a repository of Gitea, and its branches are protected by the result', async () => {
  const gitea = await startGitea(aSharedDirectory())
  onTestFinished(gitea.stop)
  await made(gitea, '/orgs', { username: 'acme', visibility: 'private' })
  await made(gitea, '/orgs/acme/repos', { name: 'app', private: true, default_branch: 'main' })
  const dev = await gitea.addUser('dev')
  expect((await gitea.api('PUT', `${repo}/collaborators/dev`, { permission: 'read' })).status).toBe(204)

  const server = theServer()
  const connections = `${org}/repository_connections`
  const connected = await server.post(connections, {
    type: 'gitea',
    url: gitea.url,
    token: gitea.token,
    webhook_secret: 'a secret of the host',
  })
  expect(connected.status).toBe(201)
  onTestFinished(async () => {
    const headers = { Authorization: `Bearer ${server.token}` }
    await fetch(`${server.url}${connections}/${String(connected.body['id'])}`, { method: 'DELETE', headers })
  })
  const created = await server.post(`${org}/pipelines`, {
    name: 'App at Gitea',
    repository: `${gitea.url}/acme/app.git`,
    configuration: JSON.stringify({
      steps: [{ command: 'cat greeting\nwhile test -e slow; do sleep 1; done\ntest ! -e broken' }],
    }),
    provider_settings: {
      filter_enabled: true,
      filter_condition: 'build.branch !~ /^docs/',
      build_tags: true,
      build_pull_request_forks: true,
      cancel_deleted_branch_builds: true,
    },
  })
  expect([created.status, created.body['message']]).toEqual([201, undefined])
  const pipeline = `${org}/pipelines/${String(created.body['slug'])}`
  const context = `millrace/${String(created.body['slug'])}`
  expect((await server.post(`${pipeline}/webhook`, {})).status).toBe(201)
  expect((await gitea.api('GET', `${repo}/hooks`)).body).toMatchObject([{ active: true, type: 'gitea' }])

  const listBuilds = async () =>
    (await server.get(`${pipeline}/builds?per_page=100`)).body as unknown as Build[]
  const buildOf = (commit: string, holds: (build: Build) => boolean) =>
    eventually(`a build of ${commit} as expected`, async () =>
      (await listBuilds()).find((build) => build.commit === commit && holds(build)),
    )
  const ended = (commit: string) => buildOf(commit, ({ state }) => state === 'passed' || state === 'failed')
  const logOf = async ({ jobs }: Build) => {
    const address = `${server.url}${org}/jobs/${jobs[0]?.id}/log.txt`
    return (await fetch(address, { headers: { Authorization: `Bearer ${server.token}` } })).text()
  }
  const statusOf = (commit: string, state: string) =>
    eventually(`${commit} is ${state} at Gitea`, async () => {
      const { body } = await gitea.api('GET', `${repo}/commits/${commit}/statuses`)
      return (body as Array<{ context: string; status: string }>).some(
        (one) => one.context === context && one.status === state,
      )
    })
  const work = aClone(gitea, 'root', gitea.token, 'acme/app')

  // A push.
  const first = work.push('main', { greeting: 'hello from Gitea' })
  const onMain = await ended(first)
  expect(onMain).toMatchObject({ state: 'passed', branch: 'main' })
  expect(await logOf(onMain)).toContain('hello from Gitea')
  await statusOf(first, 'success')

  // A tag.
  work.git('tag', 'v1')
  work.git('push', '--quiet', 'origin', 'v1')
  await buildOf(first, ({ tag, state }) => tag === 'v1' && state === 'passed')

  // A pull request that may be merged only when its commit is green.
  await made(gitea, `${repo}/branch_protections`, {
    rule_name: 'main',
    enable_push: true,
    enable_status_check: true,
    status_check_contexts: [context],
    block_admin_merge_override: true,
  })
  const red = work.push('feature', { broken: 'yes' })
  expect((await ended(red)).state).toBe('failed')
  await statusOf(red, 'failure')
  const { number } = (await made(gitea, `${repo}/pulls`, {
    head: 'feature',
    base: 'main',
    title: 'Feature',
  })) as {
    number: number
  }
  const merge = () => gitea.api('POST', `${repo}/pulls/${number}/merge`, { Do: 'merge' })
  expect((await merge()).status).toBe(405)
  work.git('rm', '--quiet', 'broken')
  const green = work.push('feature', { feature: 'done' })
  expect((await ended(green)).state).toBe('passed')
  await statusOf(green, 'success')
  const merged = await eventually('Gitea merges it', async () => {
    const { status } = await merge()
    return status === 200
  })
  expect(merged).toBe(true)
  work.git('pull', '--quiet', '--no-rebase', 'origin', 'main')
  expect((await ended(work.git('rev-parse', 'origin/main'))).branch).toBe('main')

  // One that needs no build may be merged, too.
  const notNeeded = work.push('docs', { manual: 'Read me' })
  await statusOf(notNeeded, 'success')
  const docs = (await made(gitea, `${repo}/pulls`, { head: 'docs', base: 'main', title: 'Docs' })) as {
    number: number
  }
  await eventually('Gitea merges it', async () => {
    const { status } = await gitea.api('POST', `${repo}/pulls/${docs.number}/merge`, { Do: 'merge' })
    return status === 200
  })
  work.git('pull', '--quiet', '--no-rebase', 'origin', 'main')

  // A pull request of a fork, which reads nothing but itself.
  await made(gitea, `${repo}/forks`, {}, dev)
  const fork = aClone(gitea, 'dev', dev, 'dev/app')
  fork.git('pull', '--quiet', 'origin', 'main')
  const change = fork.push('change', { greeting: 'hello from a fork' })
  await made(gitea, `${repo}/pulls`, { head: 'dev:change', base: 'main', title: 'Change' }, dev)
  const ofFork = await ended(change)
  expect(ofFork).toMatchObject({ state: 'passed', branch: 'dev:change', pull_request: expect.anything() })
  expect(await logOf(ofFork)).toContain('hello from a fork')
  await statusOf(change, 'success')

  // A closed one is not built, and a comment builds nothing.
  const pull = ofFork.pull_request?.id
  await made(gitea, `${repo}/issues/${pull}/comments`, { body: '/build' })
  expect((await gitea.api('PATCH', `${repo}/pulls/${pull}`, { state: 'closed' })).status).toBe(201)

  // A push that replaces the branch, and one that deletes it while its build runs.
  const replaced = work.push('other', { other: 'one' })
  await ended(replaced)
  work.git('commit', '--quiet', '--amend', '-m', 'Another message')
  const amended = work.push('other', { slow: 'yes' }, '--force')
  await buildOf(amended, ({ state }) => state === 'running')
  work.git('push', '--quiet', 'origin', ':other')
  await buildOf(amended, ({ state }) => state === 'canceled')

  // A push whose delivery never comes, after the repository was looked at for the first time.
  const health = `${pipeline}/repository_health`
  await eventually('Gitea was asked for its branches', async () => {
    const { body } = await server.get(health)
    return (body['reconciled_at'] as unknown) !== null
  })
  const hooks = (await gitea.api('GET', `${repo}/hooks`)).body as Array<{ id: number }>
  const hook = `${repo}/hooks/${hooks[0]?.id}`
  expect((await gitea.api('PATCH', hook, { active: false })).status).toBe(200)
  work.git('rm', '--quiet', 'slow')
  const unheard = work.push('unheard', { unheard: 'yes' })
  expect((await server.post(`${health}/reconcile`, {})).status).toBeLessThan(300)
  expect(await ended(unheard)).toMatchObject({ state: 'passed', branch: 'unheard', found_by: 'reconcile' })
  expect((await gitea.api('PATCH', hook, { active: true })).status).toBe(200)
  const heard = work.push('unheard', { heard: 'yes' })
  expect(await ended(heard)).toMatchObject({ state: 'passed', found_by: 'webhook' })

  // Each was built once.
  const builds = (await listBuilds()).map(({ commit, branch, tag }) => `${commit} ${branch} ${tag}`)
  expect(builds.toSorted()).toEqual([...new Set(builds)].toSorted())
})

it('connects a repository of Gitea from the terminal, and knows whether Gitea has the webhook', async () => {
  const gitea = await startGitea(aSharedDirectory())
  onTestFinished(gitea.stop)
  await made(gitea, '/orgs', { username: 'tools', visibility: 'private' })
  await made(gitea, '/orgs/tools/repos', {
    name: 'saw',
    private: true,
    default_branch: 'trunk',
    auto_init: true,
  })
  const server = theServer()
  const connect = async (body: object) => {
    const { status, body: connected } = await server.post(`${org}/repository_connections`, body)
    expect(status).toBe(201)
    onTestFinished(async () => {
      const headers = { Authorization: `Bearer ${server.token}` }
      const address = `${server.url}${org}/repository_connections/${String(connected['id'])}`
      await fetch(address, { method: 'DELETE', headers })
    })
  }
  // Another host with the same name and another port, connected first.
  await connect({ type: 'gitlab', url: 'http://localhost:1' })
  await connect({ type: 'gitea', url: gitea.url, token: gitea.token, webhook_secret: 'a secret of the host' })

  const settings = { MILLRACE_URL: server.url, MILLRACE_TOKEN: server.token, MILLRACE_ORG: 'default' }
  const create = (name: string, ...more: string[]) =>
    millrace(['pipeline', 'create', name, '--connect', '-f', '-', ...more], settings, {
      input: 'steps: [{ command: "true" }]',
    })
  const ended = await create('Saw at Gitea', '--repository', 'tools/saw')
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  expect(ended.stdout).toContain('Created the pipeline saw-at-gitea: ')
  expect(ended.stdout.trimEnd().split('\n').at(-1)).toBe('The webhook works: push came.')

  const path = `${org}/pipelines/saw-at-gitea`
  const pipeline = (await server.get(path)).body
  expect(pipeline).toMatchObject({
    repository: `${gitea.url}/tools/saw.git`,
    default_branch: 'trunk',
    provider: { id: 'gitea' },
  })
  const url = String(pipeline['provider']?.['webhook_url'])
  const hooksAtGitea = async () =>
    (await gitea.api('GET', '/repos/tools/saw/hooks')).body as Array<{ id: number; config: { url: string } }>
  expect((await hooksAtGitea()).map(({ config }) => config.url)).toEqual([url])
  const health = async () => (await server.get(`${path}/repository_health`)).body
  expect(await health()).toMatchObject({
    hook: { registered: true, reason: null, url, can_test: true, has_secret: true },
    last_delivery: { event: 'push', status: 200, message: expect.stringContaining('the webhook works') },
  })
  expect((await server.get(`${path}/builds`)).body).toEqual([])

  // Somebody deletes it at Gitea.
  for (const { id } of await hooksAtGitea()) await gitea.api('DELETE', `/repos/tools/saw/hooks/${id}`)
  const missing = await eventually('the missing webhook is noticed', async () => {
    const { hook } = await health()
    return String(hook?.['registered']) === 'false' && hook
  })
  expect(missing).toMatchObject({ reason: 'The repository at Gitea has no such webhook.' })
  expect((await server.post(`${path}/repository_health/test`, {})).status).toBe(422)
  expect((await server.post(`${path}/webhook`, {})).status).toBe(201)
  expect((await health())['hook']).toMatchObject({ registered: true, reason: null })
  const before = String((await health())['last_delivery']?.['received_at'])
  expect((await server.post(`${path}/repository_health/test`, {})).status).toBe(200)
  await eventually(
    'the test comes',
    async () => String((await health())['last_delivery']?.['received_at']) > before,
  )

  // One that was pasted is taken over.
  expect((await server.post(`${path}/webhook`, {})).status).toBe(422)
  const [first] = await hooksAtGitea()
  await gitea.api('DELETE', `/repos/tools/saw/hooks/${first?.id}`)
  await made(gitea, '/repos/tools/saw/hooks', {
    type: 'gitea',
    active: true,
    events: ['push'],
    config: { url, content_type: 'json' },
  })
  expect((await server.post(`${path}/webhook`, {})).status).toBe(201)
  expect(await hooksAtGitea()).toMatchObject([
    { config: { url }, active: true, events: expect.arrayContaining(['pull_request']) },
  ])

  // A repository that no connection sees.
  const unknown = await create('Nothing', '--repository', 'tools/none')
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('No connection sees a repository tools/none.'),
  ])
})

async function made(gitea: Gitea, path: string, body: object, token?: string): Promise<unknown> {
  const answer = await gitea.api('POST', path, body, token)
  expect([path, answer]).toEqual([
    path,
    { status: expect.toBeOneOf([200, 201, 202]), body: expect.anything() },
  ])
  return answer.body
}

function aClone({ url }: Gitea, user: string, token: string, path: string) {
  const folder = join(aSharedDirectory(), 'work')
  const identity = ['-c', `user.name=${user}`, '-c', `user.email=${user}@example.com`]
  const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const run = (...args: string[]) =>
    execFileSync('git', [...identity, ...args], { env, encoding: 'utf8' }).trim()
  const address = new URL(`/${path}.git`, url)
  Object.assign(address, { username: user, password: token })
  run('init', '--quiet', '--initial-branch=main', folder)
  const git = (...args: string[]) => run('-C', folder, ...args)
  git('remote', 'add', 'origin', address.href)
  return {
    git,
    /** Commits the files on the present branch, and returns the commit. */
    push(branch: string, files: Record<string, string>, ...more: string[]): string {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      git('add', '.')
      git('commit', '--quiet', '-m', `For ${branch}`)
      git('push', '--quiet', ...more, 'origin', `HEAD:refs/heads/${branch}`)
      return git('rev-parse', 'HEAD')
    },
  }
}
