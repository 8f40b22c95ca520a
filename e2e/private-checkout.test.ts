// A private repository on a host of one's own, connected with a token, with the real server, local agents and git.
import { expect, it, onTestFinished } from 'vitest'
import { aHostedRepository, startGitHost } from '../testbed/src/git-host.ts'
import { aPipeline, build, fromFork } from './local-jobs.ts'
import { aSharedDirectory, theServer } from './millrace.ts'

const token = 'a-token-that-may-do-everything'

/** Everything that a job can look at. */
const lookEverywhere = `
env
cat .git/config
git config --list
cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' '\\n'
grep -r '${token.slice(0, 7)}[-]that' ~ /tmp .git || true
GIT_TRACE_CURL=1 GIT_TRACE_REDACT=0 git fetch origin 2>&1 || true`

it('says how it could be read, is checked out when its host is connected, and shows forks only their own', async () => {
  const server = theServer()
  const repository = await aHostedRepository(aSharedDirectory())
  const main = await repository.push('refs/heads/main', { greeting: 'hello from a private repository\n' })
  const secret = await repository.push('refs/heads/secret', { plan: 'buy the world\n' })
  await repository.git('reset', '--quiet', '--hard', main)
  const head = await repository.push('refs/pull/1/head', { change: 'by a fork\n' })
  const host = await startGitHost({ root: repository.root, mayRead: (password) => password === token })
  onTestFinished(host.close)
  const address = `http://localhost:${host.port}/acme/app.git`
  const pipeline = await aPipeline(
    server,
    address,
    `cat greeting\ngit fetch origin secret && echo SECRET\n${lookEverywhere}\necho done`,
  )

  const before = await build(server, pipeline, {})
  expect(before).toMatchObject({ state: 'failed', log: expect.stringContaining('could not read Username') })
  expect(before.log).toContain('Neither the server nor the agent has credentials for this repository.')

  const connections = '/v2/organizations/default/repository_connections'
  const body = { type: 'gitea', url: `http://localhost:${host.port}`, token }
  const connected = await server.post(connections, body)
  expect(connected.status).toBe(201)
  const gone = { method: 'DELETE', headers: { Authorization: `Bearer ${server.token}` } }
  onTestFinished(
    async () => void (await fetch(`${server.url}${connections}/${String(connected.body['id'])}`, gone)),
  )
  const own = await build(server, pipeline, {})
  expect([own.state, own.log]).toEqual(['passed', expect.stringContaining('hello from a private repository')])
  expect(own.log).toContain('\nSECRET\n')
  expect(own.log).toContain(`url = ${address}\n`)

  const fork = await build(server, pipeline, { ...fromFork, commit: head })
  expect([fork.state, fork.log]).toEqual([
    'passed',
    expect.stringContaining('hello from a private repository'),
  ])
  expect(fork.log).not.toContain('\nSECRET\n')
  expect(fork.log).not.toContain(secret)
  for (const { log } of [own, fork]) {
    expect(log).toContain('\ndone\n')
    expect(log).not.toContain(token)
    expect(log).not.toContain(Buffer.from(`oauth2:${token}`).toString('base64'))
  }
})
