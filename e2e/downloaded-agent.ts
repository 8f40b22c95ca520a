// The agent that a server hands out, on a machine that has nothing of ours and reaches no registry.
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { aDirectory, eventually, launch, stop, type Client } from './millrace.ts'

/** The one beside the npm that runs the tests, else the one on the path. */
const npx = process.env['npm_execpath']?.endsWith('npm-cli.js')
  ? [process.execPath, join(dirname(process.env['npm_execpath']), 'npx-cli.js')]
  : ['npx']

/**
 * Downloads, compares the checksum, and runs the command of the page: the agent takes a job of this server. Returns the state
 * of its build, or why the agent has ended.
 */
export async function runDownloadedAgent(server: Client): Promise<string> {
  const sums = await (await fetch(`${server.url}/downloads/SHA256SUMS`)).text()
  const [, sha256 = '', file = ''] = /^(\w{64}) {2}(millrace-agent-\S+\.tgz)$/m.exec(sums) ?? []
  const address = `${server.url}/downloads/${file}`
  const answer = await fetch(address)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip'])
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
  const again = await fetch(address, { headers: { 'If-None-Match': answer.headers.get('etag') ?? '' } })
  expect(again.status).toBe(304)
  expect((await fetch(`${server.url}/downloads/other.tgz`)).status).toBe(404)

  const org = '/v2/organizations/default'
  const { body: clusters } = await server.get(`${org}/clusters`)
  const tokens = `${org}/clusters/${String(clusters['0']?.['id'])}/tokens`
  const { body: token } = await server.post(tokens, { description: 'Downloaded' })
  const home = aDirectory()
  const cwd = join(home, 'elsewhere')
  mkdirSync(cwd)
  const command = ['--yes', address, 'agent', 'start', '--token', String(token['token'])]
  const rest = [
    '--endpoint',
    `${server.url}/v3`,
    '--tags',
    'from=download',
    '--build-path',
    join(home, 'builds'),
  ]
  const settings = {
    HOME: home,
    npm_config_cache: join(home, 'cache'),
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_update_notifier: 'false',
  }
  const agent = launch(
    'sh',
    ['-c', 'cd "$1" && shift && exec "$@"', 'sh', cwd, ...npx, ...command, ...rest],
    settings,
  )
  onTestFinished(async () => {
    agent.signal('SIGKILL')
    await agent.ended
  })
  let end = ''
  void agent.ended.then(({ stderr }) => (end = `ended: ${stderr}`))
  const name = `Downloaded ${Date.now()}`
  const configuration = JSON.stringify({
    env: { BUILDKITE_SKIP_CHECKOUT: 'true' },
    steps: [{ command: 'buildkite-agent meta-data set ran yes', agents: { from: 'download' } }],
  })
  const { status, body: pipeline } = await server.post(`${org}/pipelines`, {
    name,
    repository: 'none',
    configuration,
  })
  expect(status).toBe(201)
  const builds = `${org}/pipelines/${String(pipeline['slug'])}/builds`
  await server.post(builds, { commit: 'HEAD', branch: 'main' })
  const state = await eventually('the downloaded agent builds', async () => {
    const { body } = await server.get(`${builds}/1`)
    return end || (String(body['state']) === 'passed' && 'passed')
  })
  await stop(agent)
  return state
}
