// A push while the server was away, with the real server and git.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { aDataDirectory, aDirectory, eventually, startServer, stop } from './millrace.ts'

const execute = promisify(execFile)

it('a push that was made while the server was away is built soon after its start', async () => {
  const repository = await aRepository()
  const settings = {
    MILLRACE_DATA_DIR: aDataDirectory(),
    MILLRACE_POLL_DIRECTORIES: repository.directory,
  }
  const server = await startServer(settings)
  const { token } = server
  const pipelines = '/v2/organizations/default/pipelines'
  const made = await server.post(pipelines, {
    name: 'Away',
    repository: repository.path,
    configuration: 'steps: [{ command: make }]',
  })
  expect(made.status).toBe(201)
  const pipeline = `${pipelines}/${String(made.body['slug'])}`
  const health = `${pipeline}/repository_health`

  const first = await repository.commit('First')
  const delivered = await fetch(String(made.body['provider']?.['webhook_url']), {
    method: 'POST',
    headers: { 'Content-Type': 'text/plain' },
    body: `${'0'.repeat(40)} ${first} refs/heads/main\n`,
  })
  expect(delivered.status).toBe(200)
  expect((await server.post(`${health}/reconcile`, {})).status).toBe(200)
  await eventually('the repository is asked', async () => {
    const { body } = await server.get(health)
    return body['reconciled_at'] !== null
  })
  await stop(server)
  const second = await repository.commit('Second')

  const next = await startServer(settings)
  const builds = await eventually('the push is built', async () => {
    const { body } = await next.get(`${pipeline}/builds`, token)
    const found = Object.values(body).map(({ commit, found_by }) => [commit, found_by])
    return found.length > 1 && found
  })
  expect(builds).toEqual([
    [second, 'reconcile'],
    [first, 'hook'],
  ])
  await stop(next)
})

async function aRepository() {
  const directory = aDirectory()
  const path = join(directory, 'app.git')
  const identity = ['-c', 'user.name=Ada Example', '-c', 'user.email=ada@example.com']
  const git = async (...args: string[]) =>
    (await execute('git', [...identity, '-C', path, ...args])).stdout.trim()
  await execute('git', ['init', '--quiet', '--bare', '--initial-branch=main', path])
  const tree = await git('hash-object', '-t', 'tree', '-w', '/dev/null')
  return {
    directory,
    path,
    /** A new commit at the end of main. */
    async commit(message: string) {
      const parent = await git('for-each-ref', '--format=%(objectname)', 'refs/heads/main')
      const commit = await git('commit-tree', tree, '-m', message, ...(parent ? ['-p', parent] : []))
      await git('update-ref', 'refs/heads/main', commit)
      return commit
    },
  }
}
