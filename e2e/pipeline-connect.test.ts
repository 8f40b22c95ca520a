// `millrace pipeline create --connect` where the host refuses the webhook, or its deliveries do not come.
import { expect, it } from 'vitest'
import { aForge, forgeSecret } from './forge.ts'
import { aUser } from './logged-in.ts'
import { eventually, millrace, spawnMillrace } from './millrace.ts'

const needs = 'It needs the scope write:repository, of an account that administers the repository.'

/** Somebody of an organization that is connected with the host. */
async function aConnected(slug: string, connection: object = { webhook_secret: forgeSecret }) {
  const forge = await aForge()
  const { settings, post } = await aUser(slug)
  await post('clusters', { name: 'Machines' })
  await post('repository_connections', { type: 'gitea', url: forge.url, token: 'the-token', ...connection })
  const command = ['pipeline', 'create', 'App', '--connect', '--repository', 'acme/app', '--wait']
  return {
    forge,
    create: (seconds: number, ...more: string[]) =>
      millrace([...command, String(seconds), ...more], settings),
    /** Resolves when it prints what to add at the host. */
    async startCreating() {
      const running = spawnMillrace([...command, '60'], settings)
      const url = await eventually('the address is printed', async () => {
        const [, found] = /^ {2}Address {2}(\S+)$/m.exec(running.output().stdout) ?? []
        return found
      })
      return { running, url }
    },
  }
}

it('says why the host refuses and what to add there, and ends with the first delivery', async () => {
  const { forge, startCreating } = await aConnected('refused-hook')
  forge.mayHook = false
  const { running, url } = await startCreating()
  expect(await forge.deliver(url)).toBe(200)
  const { code, stdout, stderr } = await running.ended
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout.split('\n').slice(1)).toEqual([
    'Its builds take their steps from .buildkite/pipeline.yml of the commit.',
    expect.stringMatching(/^Webhooks could not be created for your repository\. Gitea answered 403: /),
    'Add the webhook yourself:',
    expect.stringMatching(/^ {2}Where {4}Settings → Webhooks → Add webhook → Gitea/),
    `  Address  ${url}`,
    '  Secret   the webhook secret of the connection',
    'Waiting up to 60 seconds for the first delivery.',
    'The webhook works: push came.',
    '',
  ])
  expect(stdout).toContain(needs)
  expect(stdout).not.toContain(forgeSecret)
})

it('fails with the answer to a first delivery that it refused', async () => {
  const { forge, startCreating } = await aConnected('wrong-secret')
  forge.mayHook = false
  const { running, url } = await startCreating()
  expect(await forge.deliver(url, 'another secret')).toBe(401)
  expect(await running.ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The first delivery was refused with 401: The signature is missing'),
  })
})

it('waits for the first delivery only as long as it was told to', async () => {
  const { forge, create } = await aConnected('no-delivery')
  forge.sendsTests = false
  const ended = await create(1)
  expect(ended.stdout).toContain('The webhook is created, and the host was asked for its test.\n')
  expect(ended).toMatchObject({
    code: 1,
    stderr:
      'No delivery came within 1 second. The host must reach the server; it shows its attempts beside the webhook.\n',
  })
  expect(forge.hooks).toMatchObject([{ config: { secret: expect.stringMatching(/^[0-9a-f]{64}$/) } }])
})

it('prints one value with --json, also when no delivery comes', async () => {
  const { forge, create } = await aConnected('no-secret', {})
  forge.mayHook = false
  const ended = await create(1, '--json')
  expect([ended.code, ended.stderr]).toEqual([
    1,
    expect.stringContaining('No delivery came within 1 second.'),
  ])
  expect(JSON.parse(ended.stdout)).toMatchObject({
    slug: 'app',
    repository: `${forge.url}/acme/app.git`,
    repository_health: { last_delivery: null, hook: { registered: null, has_secret: false } },
  })
})
