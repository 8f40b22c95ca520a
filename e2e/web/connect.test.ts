// A repository is connected in the browser, at a small host of ours that speaks the API of Gitea.
import { expect, it } from 'vitest'
import { aForge, forgeSecret } from '../forge.ts'
import { eventually, type Json } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { anOrganization } from './new-organization.ts'

/** An administrator on the page for a new pipeline, in an organization that is connected with the host. */
async function aVisit() {
  const forge = await aForge()
  const { server, slug, admin, api, url } = await anOrganization()
  const connection = { type: 'gitea', url: forge.url, token: 'the-token', webhook_secret: forgeSecret }
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
    post: (path: string) => server.post(api + path, {}, admin),
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
    const own = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(forge.hooks).toMatchObject([{ active: true, config: { secret: own } }])

    await page.goto(settings)
    await page.getByText('The webhook is there', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Send the host’s test' }).click()
    await page.getByRole('status').getByText('The host was asked for its test.').waitFor()

    const [hook] = forge.hooks
    const [url, old] = [hook?.config.url ?? '', hook?.config.secret ?? '']
    await page.getByText('It signs them with a secret of its own.').waitFor()
    await page.getByRole('button', { name: 'New secret…' }).click()
    await page.getByRole('button', { name: 'Make a new secret' }).click()
    await page.getByRole('status').getByText('The webhook has a new secret.').waitFor()
    expect(hook?.config.secret).not.toBe(old)
    expect([await forge.deliver(url, old), await forge.deliver(url, hook?.config.secret)]).toEqual([401, 200])
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

  it('shows on its settings when the host listed its pull requests, and why it does not', async () => {
    const { forge, page, settings, get, post } = await aVisit()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('The webhook works', { exact: true }).waitFor()
    const health = '/pipelines/app/repository_health'
    const asked = (what: string, holds: (health: Json) => boolean) =>
      eventually(what, async () => {
        await post(`${health}/reconcile`)
        return holds((await get(health)).body)
      })
    await asked('the host lists its pull requests', (now) => isSet(now['pull_requests_read_at']))
    await page.goto(settings)
    await page.getByText('Pull requests listed', { exact: true }).waitFor()
    expect(await page.getByText('Pull requests not listed').count()).toBe(0)

    forge.mayListPulls = false
    await asked('the host lists none', (now) => isSet(now['pull_requests_error']))
    await page.reload()
    await page.getByText('Pull requests not listed', { exact: true }).waitFor()
    await page.getByText('The host answered 403: {"message":"the token is too weak"}').waitFor()
  })
})

const isSet = (value: Json | null | undefined): boolean => value !== null && value !== undefined
