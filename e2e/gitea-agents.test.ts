// Each agent program checks a private repository of a real Gitea out, connected with a token and then with a deploy key: its own
// branches, and a fork's pull request.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { giteaLacks, startGitea, type Gitea } from '../testbed/src/gitea.ts'
import { needing } from '../testbed/src/needing.ts'
import { ownRunner, publicAgent, publicAgentLacks, type AgentProgram } from './conformance/programs.ts'
import { aDirectory, aSharedDirectory, eventually, launch, theServer, type Client } from './millrace.ts'

const org = '/v2/organizations/default'
const title = 'checks a private repository of Gitea out, and shows forks only their own'
const found = publicAgent()

needing('programs', giteaLacks).it(`${ownRunner.title} ${title}`, () => checkOutWith(ownRunner))

if (found === null) needing('public-agent', publicAgentLacks).it(`the public agent ${title}`, () => {})
else needing('programs', giteaLacks).it(`${found.title} ${title}`, () => checkOutWith(found))

async function checkOutWith(program: AgentProgram): Promise<void> {
  const gitea = await startGitea(aSharedDirectory())
  onTestFinished(gitea.stop)
  const { main, change } = await aPrivateRepository(gitea)
  const server = theServer()
  const post = async (path: string, body: object) => {
    const answer = await server.post(org + path, body)
    expect([path, answer.status]).toEqual([path, 201])
    return answer.body
  }
  const remove = async (path: string) => {
    const headers = { Authorization: `Bearer ${server.token}` }
    await fetch(server.url + org + path, { method: 'DELETE', headers })
  }
  const connection = await post('/repository_connections', {
    type: 'gitea',
    url: gitea.url,
    token: gitea.token,
  })
  const removeConnection = () => remove(`/repository_connections/${String(connection['id'])}`)
  onTestFinished(removeConnection)
  const name = `Gitea with ${program.title} ${process.pid}`
  const cluster = `/clusters/${String((await post('/clusters', { name }))['id'])}`
  const { token } = await post(`${cluster}/tokens`, { description: 'agent' })
  await post(`${cluster}/queues`, { key: 'gitea' })
  startAgent(program, server, String(token))
  const command =
    'cat greeting\ngit fetch origin secret && echo THE SECRET\nenv\ncat .git/config\ngit config --list\necho done'
  const aPipeline = async (way: string, repository: string) => {
    const pipeline = await post('/pipelines', {
      name: `${name} by ${way}`,
      repository,
      cluster_id: cluster.split('/').at(-1),
      configuration: JSON.stringify({ agents: { queue: 'gitea' }, steps: [{ command }] }),
    })
    return `/pipelines/${String(pipeline['slug'])}`
  }
  const build = async (builds: string, more: object) => {
    const number = String((await post(builds, { branch: 'main', ...more }))['number'])
    const ended = await eventually('the build ends', async () => {
      const { body } = await server.get(`${org}${builds}/${number}`)
      return (body['finished_at'] as unknown) !== null && body
    })
    const log = `${server.url}${org}/jobs/${String(ended['jobs']?.['0']?.['id'])}/log.txt`
    const answer = await fetch(log, { headers: { Authorization: `Bearer ${server.token}` } })
    return { state: String(ended['state']), log: (await answer.text()).replaceAll('\r', '') }
  }

  const checkOut = async (pipeline: string, address: string) => {
    const builds = `${pipeline}/builds`
    const own = await build(builds, { commit: main })
    expect([own.state, own.log]).toEqual(['passed', expect.stringContaining('hello from Gitea\n')])
    expect(own.log).toMatch(/^THE SECRET$/m)
    expect(own.log).toContain(`url = ${address}/acme/app.git\n`)

    const fork = await build(builds, {
      commit: change,
      branch: 'dev:change',
      pull_request_id: 1,
      pull_request_base_branch: 'main',
      pull_request_repository: `${address}/dev/app.git`,
    })
    // Its last command is no failure, but git may not fetch the other branch.
    expect([fork.state, fork.log]).toEqual(['passed', expect.stringContaining('hello from a fork\n')])
    expect(fork.log).not.toMatch(/^THE SECRET$/m)
    for (const { log } of [own, fork]) {
      expect(log).toMatch(/^done$/m)
      expect(log).not.toContain(gitea.token)
      expect(log).not.toContain('PRIVATE KEY')
    }
  }

  await checkOut(await aPipeline('connection', `${gitea.url}/acme/app.git`), gitea.url)

  await removeConnection()
  // The server remembers the key of the ssh server as a person's ssh does, and ports are taken again.
  const known = new URL(gitea.sshUrl).host.replace(/^(.*):/, '[$1]:')
  onTestFinished(() => void execFileSync('ssh-keygen', ['-R', known], { stdio: 'ignore' }))
  const keyed = await aPipeline('deploy key', `${gitea.sshUrl}/acme/app.git`)
  const { public_key: key } = await post(`${keyed}/deploy_key`, {})
  const registered = await gitea.api('POST', '/repos/acme/app/keys', {
    title: 'Millrace',
    key,
    read_only: true,
  })
  expect(registered.status).toBe(201)
  await checkOut(keyed, gitea.sshUrl)
}

function startAgent(program: AgentProgram, server: Client, token: string): void {
  const folder = aDirectory()
  mkdirSync(join(folder, 'hooks'))
  const flags = {
    token,
    endpoint: `${server.url}/v3`,
    tags: 'queue=gitea',
    name: 'gitea',
    'build-path': join(folder, 'build'),
    'hooks-path': join(folder, 'hooks'),
    'plugins-path': join(folder, 'plugins'),
    'sockets-path': join(folder, 'sockets'),
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const running = launch(program.file, [...program.start, ...args], { HOME: folder })
  onTestFinished(async () => {
    running.signal('SIGTERM')
    await running.ended
  })
}

/** acme/app, with a branch that forks do not see, and pull request 1 from a fork. */
async function aPrivateRepository(gitea: Gitea): Promise<{ main: string; change: string }> {
  const ok = async (path: string, body: object, method = 'POST', token?: string) => {
    const { status } = await gitea.api(method, path, body, token)
    expect([path, status < 300]).toEqual([path, true])
  }
  await ok('/orgs', { username: 'acme', visibility: 'private' })
  await ok('/orgs/acme/repos', { name: 'app', private: true, default_branch: 'main' })
  const dev = await gitea.addUser('dev')
  await ok('/repos/acme/app/collaborators/dev', { permission: 'read' }, 'PUT')

  const work = join(aDirectory(), 'work')
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const run = (...args: string[]) =>
    execFileSync('git', [...identity, ...args], { env, encoding: 'utf8' }).trim()
  run('init', '--quiet', '--initial-branch=main', work)
  const push = (greeting: string, branch: string, user = 'root', token = gitea.token, owner = 'acme') => {
    writeFileSync(join(work, 'greeting'), `${greeting}\n`)
    run('-C', work, 'add', '.')
    run('-C', work, 'commit', '--quiet', '-m', greeting)
    const address = new URL(`/${owner}/app.git`, gitea.url)
    Object.assign(address, { username: user, password: token })
    run('-C', work, 'push', '--quiet', address.href, `HEAD:refs/heads/${branch}`)
    return run('-C', work, 'rev-parse', 'HEAD')
  }
  const main = push('hello from Gitea', 'main')
  push('buy the world', 'secret')
  run('-C', work, 'reset', '--quiet', '--hard', main)
  await ok('/repos/acme/app/forks', {}, 'POST', dev)
  const change = push('hello from a fork', 'change', 'dev', dev, 'dev')
  await ok('/repos/acme/app/pulls', { head: 'dev:change', base: 'main', title: 'Change' }, 'POST', dev)
  return { main, change }
}
