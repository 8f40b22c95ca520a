import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { eventually, millrace, theServer } from '../millrace.ts'
import { findBarriers } from './axe.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { anOrganization } from './new-organization.ts'

/** Answers 410 below `/gone`, so that each delivery is given up at once, and takes everything else. */
async function aReceiver() {
  const taken: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const isGone = request.url?.startsWith('/gone') === true
      if (!isGone) taken.push(request.headers)
      response.writeHead(isGone ? 410 : 200, { 'content-type': 'application/json' })
      response.end(isGone ? '{"error":"nobody is here"}' : '{"ok":true}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, taken }
}

const said = (page: Page, text: string) => page.getByRole('status').getByText(text).first().waitFor()

withBrowser.describe('integrations in the browser', () => {
  it('shows on every page that a service was stopped, until somebody has repaired it', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const receiver = await aReceiver()
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/services`)
    const main = page.getByRole('main')
    await main.getByText('No notification service yet').waitFor()
    await main.getByRole('link', { name: 'New service' }).click()
    await main.getByRole('link', { name: 'Webhook', exact: true }).click()
    await main.getByLabel('Name', { exact: true }).fill(':rocket: Deploys')
    await main.getByLabel('Address').fill(`${receiver.url}/gone`)
    await main.getByLabel('build.scheduled').check()
    await main.getByRole('button', { name: 'Create service' }).click()
    await main.getByRole('heading', { level: 1, name: '🚀 Deploys' }).waitFor()
    const service = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const path = `${api}/services/${service}`
    expect((await server.get(path, admin)).body).toMatchObject({
      description: ':rocket: Deploys',
      settings: { url: `${receiver.url}/gone`, events: ['build.scheduled', 'build.finished'], version: 3 },
    })

    // Fifty in a row are given up, and then the server stops it.
    for (let test = 0; test < 50; test++) await server.post(`${path}/test`, {}, admin)
    await eventually('the service is stopped', async () => {
      const { body } = await server.get(path, admin)
      return typeof body['broken_at'] === 'string'
    })
    await page.goto(`${url}/${slug}`)
    const banner = page.getByRole('note', { name: 'Stopped notification services' })
    await banner
      .getByText('A notification service was stopped, because nothing got through: 🚀 Deploys')
      .waitFor()
    await page.goto(`${url}/-/me`)
    await banner.getByRole('link', { name: 'Repair it' }).click()
    await main.getByText(/^Stopped .*50 deliveries in a row were given up/).waitFor()

    await main.getByLabel('Address').fill(`${receiver.url}/builds`)
    await main.getByRole('button', { name: 'Save' }).click()
    await said(page, 'Saved.')
    await main.getByRole('button', { name: 'Enable again' }).click()
    await banner.waitFor({ state: 'detached' })

    await main.getByLabel('State of the deliveries').selectOption('Given up')
    await page.waitForURL((address) => address.searchParams.get('state') === 'dead')
    const deliveries = main.getByRole('table', { name: 'Deliveries' })
    await deliveries.getByText('Given up').first().waitFor()
    await deliveries.getByRole('link', { name: 'ping' }).first().click()
    const first = main.getByRole('region', { name: 'Attempt 1', exact: true })
    await first.getByText('The receiver answered 410: it is gone.').waitFor()
    await first.getByText('nobody is here').waitFor()
    // The token is not in the record.
    const { token } = (await server.get(path, admin)).body['settings'] as unknown as { token: string }
    expect(await first.innerText()).toContain('X-Buildkite-Token: XXXX')
    expect(await main.innerText()).not.toContain(token)
    const id = new URL(page.url()).pathname.split('/').at(-1)
    await main.getByRole('button', { name: 'Redeliver' }).click()
    await main.getByRole('region', { name: 'Attempt 2', exact: true }).getByText('It arrived.').waitFor()
    expect(receiver.taken.map((headers) => headers['x-millrace-delivery'])).toContain(id)

    // The list by keyboard.
    await page.goto(`${url}/organizations/${slug}/settings/services`)
    await main.getByRole('table', { name: 'Notification services' }).getByText('Enabled').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await main.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete this service' }).click()
    await main.getByText('No notification service yet').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('sends a test at once through a new, a repaired and a disabled service, and shows how it went', async () => {
    const { slug, admin, url } = await anOrganization()
    const receiver = await aReceiver()
    const tab = await visit()
    const { page } = tab
    const list = `/organizations/${slug}/settings/services`
    await signIn(tab, { url, token: admin }, `${list}/new?provider=webhook`)
    const main = page.getByRole('main')
    await main.getByLabel('Address').fill(`${receiver.url}/gone`)
    await main.getByRole('button', { name: 'Create service' }).click()
    // The receiver has been told of the service itself. The list follows that delivery to its end.
    await main.getByRole('table', { name: 'Deliveries' }).getByText('Given up').waitFor()
    const first = main.getByRole('region', { name: 'Attempt 1', exact: true })
    const breadcrumb = page.getByRole('navigation', { name: 'Breadcrumb' })
    await main.getByRole('button', { name: 'Send test' }).click()
    await first.getByText('The receiver answered 410: it is gone.').waitFor()
    await first.getByText(`POST ${receiver.url}/gone`).waitFor()
    await breadcrumb.getByRole('link', { name: 'Webhook' }).click()
    await main.getByLabel('Address').fill(`${receiver.url}/builds`)
    await main.getByRole('button', { name: 'Save' }).click()
    await said(page, 'Saved.')
    await main.getByRole('button', { name: 'Send test' }).click()
    await first.getByText('It arrived.').waitFor()
    await first.getByText(`POST ${receiver.url}/builds`).waitFor()
    await first.getByRole('region', { name: 'Answer 1 of attempt 1' }).getByText('"ok": true').waitFor()
    await breadcrumb.getByRole('link', { name: 'Webhook' }).click()
    await main.getByRole('button', { name: 'Disable' }).click()
    const before = page.url()
    await main.getByRole('button', { name: 'Enable and send test' }).click()
    await page.waitForURL((address) => address.href !== before)
    await first.getByText('It arrived.').waitFor()

    await page.goto(`${url}${list}/new?provider=chat`)
    await main.getByLabel('Address').fill(`${receiver.url}/chat`)
    await main.getByRole('button', { name: 'Create service' }).click()
    await main.getByRole('button', { name: 'Send the first test' }).click()
    await first.getByText('It arrived.').waitFor()
    await page.goto(`${url}${list}`)
    const services = main.getByRole('table', { name: 'Notification services' })
    for (const name of ['Webhook', 'Chat'])
      await services.getByRole('row', { name }).getByText('Delivered').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('connects a source host, shows what it may do, and deletes it', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/connections`)
    const main = page.getByRole('main')
    await main.getByText('No source host is connected').waitFor()
    await main.getByRole('button', { name: 'New connection' }).click()
    const dialog = page.getByRole('dialog')
    const isFirst = () =>
      dialog.getByLabel('Source host').evaluate((field) => field === document.activeElement)
    await expect.poll(isFirst).toBe(true)
    expect(await findBarriers(page)).toEqual([])
    await dialog.getByLabel('Source host').selectOption('Gitea')
    await dialog.getByLabel('Address', { exact: true }).fill('https://git.example.com')
    await dialog.getByLabel('Secret of webhooks').fill('a secret of webhooks')
    await dialog.getByRole('button', { name: 'Connect' }).click()
    const row = main.getByRole('row').filter({ hasText: 'Gitea at git.example.com' })
    await row.getByText('Checks the signatures of webhooks').waitFor()
    await dialog.waitFor({ state: 'detached' })
    // What is not touched stays, also what is shown masked.
    await row.getByRole('button', { name: 'Edit Gitea at git.example.com' }).press('Enter')
    await dialog.getByLabel('Access token').fill('b9d3a7e1c5f80246')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row
      .getByText('Sends commit statuses, lets jobs read their repository, checks the signatures of webhooks')
      .waitFor()
    const stored = (await server.get(`${api}/repository_connections`, admin)).body['0']
    expect([stored?.['token'], stored?.['webhook_secret']].map(String)).toEqual([
      expect.stringMatching(/^X+0246$/),
      expect.stringMatching(/^X+ooks$/),
    ])
    await row.getByRole('button', { name: 'Delete Gitea at git.example.com' }).click()
    await dialog.getByRole('button', { name: 'Delete this connection' }).click()
    await main.getByText('No source host is connected').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('lists a program that the person has connected, apart from access tokens, and revokes it', async () => {
    const { server, admin, url } = await anOrganization()
    const program = await aProgram(url)
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, '/-/me/programs')
    const main = page.getByRole('main')
    await main.getByText('No program is connected').waitFor()
    await page.goto(program.page)
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    const token = await program.token()
    expect((await server.get('/v2/user', token)).status).toBe(200)
    await page.goto(`${url}/-/me/programs`)
    const row = main.getByRole('row').filter({ hasText: 'Robot' })
    await row.getByText('Builds, Your own account').waitFor()
    await page.goto(`${url}/-/me/tokens`)
    await main.getByRole('table', { name: 'Access tokens' }).waitFor()
    expect(await row.count()).toBe(0)
    await page.goto(`${url}/-/me/programs`)
    await row.getByRole('button', { name: 'Revoke…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke this token' }).click()
    await main.getByText('No program is connected').waitFor()
    expect((await server.get('/v2/user', token)).status).toBe(401)
    expect(tab.complaints).toEqual([])
  })
})

/** A program that waits on this machine for the answer of the person, and exchanges it for an access token. */
async function aProgram(url: string) {
  const codes: string[] = []
  const server = createServer((request, response) => {
    const code = new URL(request.url ?? '', 'http://127.0.0.1').searchParams.get('code')
    if (code !== null) codes.push(code)
    response.end('Go back to the program.')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
  const registered = await fetch(`${url}/-/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'Robot', redirect_uris: [redirect] }),
  })
  const { client_id: client } = (await registered.json()) as { client_id: string }
  const verifier = randomBytes(32).toString('base64url')
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: client,
    redirect_uri: redirect,
    scope: 'read_user read_builds',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  return {
    page: `${url}/-/oauth/authorize?${asked}`,
    async token(): Promise<string> {
      const code = await eventually('the browser brings a code', async () => codes[0])
      const exchanged = await fetch(`${url}/-/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: client,
          redirect_uri: redirect,
          code_verifier: verifier,
          code,
        }),
      })
      return ((await exchanged.json()) as { access_token: string }).access_token
    },
  }
}

withBrowser.describe('the installation in the browser', () => {
  it('is shown to operators who have signed in themselves, and to nobody else', async () => {
    const { server, slug, admin, url } = await anOrganization()
    const email = `grace@${slug}.example`
    const { settings } = theServer()
    const stranger = await visit()
    await signIn(stranger, { url, token: admin }, '/-/installation')
    await stranger.page.getByText('Only operators may open it').waitFor()
    expect((await millrace(['user', 'operator', email], settings)).code).toBe(0)
    expect((await server.get('/v2/installation', admin)).status).toBe(403)

    const link = new URL((await millrace(['user', 'sign-in-link', email], settings)).stdout.trim())
    const tab = await visit()
    const { page } = tab
    // The command does not know the port that the server has got.
    await page.goto(`${url}${link.pathname}${link.search}`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Next time you sign in').waitFor()
    await page.goto(`${url}/${slug}`)
    await page.getByRole('button', { name: 'You and the settings of this browser' }).click()
    await page.getByRole('menuitem', { name: 'Installation' }).click()
    const main = page.getByRole('main')
    await main.getByRole('table', { name: 'Processes' }).getByText('Requests, background work').waitFor()
    await main.getByText(/^PostgreSQL \d+.*, run by Millrace, /).waitFor()
    await main.getByRole('table', { name: 'Organizations' }).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await findBarriers(page)).toEqual([])
    }
    await page.setViewportSize({ width: 390, height: 844 })
    const widths = () => [document.documentElement.scrollWidth, document.documentElement.clientWidth]
    const [content, window] = await page.evaluate(widths)
    expect(content).toBe(window)
    expect(tab.complaints).toEqual([])
  })
})
