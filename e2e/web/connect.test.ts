// A repository is connected in the browser, at a small host of ours that speaks the API of Gitea.
import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { signIn, visit, withBrowser } from './browser.ts'
import { anOrganization } from './new-organization.ts'

const secret = 'a secret of the host'
const commit = '1'.repeat(40)

interface Hook {
  id: number
  active: boolean
  events: string[]
  config: { url: string; secret?: string }
}

/** Has the repository acme/app. */
async function aForge() {
  const hooks: Hook[] = []
  const forge = { url: '', hooks, mayHook: true, deliver }
  const server = createServer((request, response) => {
    const answer = (status: number, body: object | null) =>
      response
        .writeHead(status, { 'Content-Type': 'application/json' })
        .end(body === null ? '' : JSON.stringify(body))
    const path = new URL(request.url ?? '', forge.url).pathname
    const address = `${forge.url}/acme/app`
    if (path === '/api/v1/repos/search') {
      const app = {
        full_name: 'acme/app',
        html_url: address,
        clone_url: `${address}.git`,
        default_branch: 'trunk',
      }
      answer(200, { ok: true, data: [app] })
    } else if (path === '/api/v1/repos/acme/app/hooks' && !forge.mayHook) {
      answer(403, { message: 'token does not have at least one of required scope(s)' })
    } else if (path === '/api/v1/repos/acme/app/hooks' && request.method === 'GET') {
      answer(200, hooks)
    } else if (path === '/api/v1/repos/acme/app/hooks') {
      void json(request).then((body) => {
        const hook = { ...(body as Hook), id: hooks.length + 1 }
        hooks.push(hook)
        answer(201, hook)
      })
    } else if (path.endsWith('/tests')) {
      answer(204, null)
      for (const { config } of hooks) void deliver(config.url)
    } else {
      answer(404, {})
    }
  })
  async function deliver(url: string): Promise<number> {
    const repository = { full_name: 'acme/app', clone_url: `${forge.url}/acme/app.git` }
    const body = JSON.stringify({ ref: 'refs/heads/trunk', before: commit, after: commit, repository })
    const headers = {
      'Content-Type': 'application/json',
      'X-Gitea-Event': 'push',
      'X-Gitea-Delivery': randomUUID(),
      'X-Gitea-Signature': createHmac('sha256', secret).update(body).digest('hex'),
    }
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  forge.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return forge
}

/** An administrator on the page for a new pipeline, in an organization that is connected with the host. */
async function aVisit() {
  const forge = await aForge()
  const { server, slug, admin, api, url } = await anOrganization()
  const connection = { type: 'gitea', url: forge.url, token: 'the-token', webhook_secret: secret }
  const made = [
    await server.post(`${api}/clusters`, { name: 'Machines' }, admin),
    await server.post(`${api}/repository_connections`, connection, admin),
  ]
  expect(made.map(({ status }) => status)).toEqual([201, 201])
  const tab = await visit()
  const { page } = tab
  await signIn(tab, { url, token: admin }, `/organizations/${slug}/pipelines/new`)
  await page.getByLabel('Where the repository is').selectOption(String(made[1]?.body['display_name']))
  await page.getByLabel('Repository', { exact: true }).selectOption('acme/app')
  return {
    forge,
    page,
    settings: `${url}/${slug}/app/settings/repository`,
    get: (path: string) => server.get(api + path, admin),
  }
}

withBrowser.describe('a repository of a connected host', () => {
  it('is chosen from a list, and its webhook is created and tested', async () => {
    const { forge, page, settings, get } = await aVisit()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('app')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('The webhook works', { exact: true }).waitFor()
    expect((await get('/pipelines/app')).body).toMatchObject({
      repository: `${forge.url}/acme/app.git`,
      default_branch: 'trunk',
    })
    expect(forge.hooks).toMatchObject([{ active: true, config: { secret } }])

    await page.goto(settings)
    await page.getByText('The webhook is there', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Send the host’s test' }).click()
    await page.getByRole('status').getByText('The host was asked for its test.').waitFor()
  })

  it('shows what to add at the host when the token may not, and turns green with the first delivery', async () => {
    const { forge, page, get } = await aVisit()
    forge.mayHook = false
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('alert').getByText('It needs the scope write:repository').waitFor()
    await page.getByText('Secret: the webhook secret of the connection.').waitFor()
    await page.getByText('None has come yet.').waitFor()
    const url = String((await get('/pipelines/app')).body['provider']?.['webhook_url'])
    await page.getByText(url).waitFor()
    expect(await forge.deliver(url)).toBe(200)
    await page.getByText('The webhook works', { exact: true }).waitFor()
  })
})
