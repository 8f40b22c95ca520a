import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { theServer, type Client } from '../millrace.ts'
import { keepMessages, signIn, visit, withBrowser } from './browser.ts'
import { anOrganization, aPerson, type NewOrganization } from './new-organization.ts'
import { aScene } from './scene.ts'

const dialogOf = (page: Page) => page.getByRole('dialog')
const said = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text).first().waitFor()
const press = (page: Page, name: string) => dialogOf(page).getByRole('button', { name }).click()
const choose = (page: Page, name: string) => page.getByRole('menuitem', { name }).click()
const contents = (page: Page) =>
  page.getByRole('navigation', { name: 'Contents of' }).getByRole('link').allInnerTexts()

const rows = async (server: Client, path: string, token: string) =>
  Object.values((await server.get(path, token)).body)

/** Whether the dialog begins at the field. */
async function hasFocus(page: Page, label: string): Promise<void> {
  const field = dialogOf(page).getByLabel(label, { exact: true })
  await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
}

async function aCluster({ server, api, admin }: NewOrganization, name = 'Machines') {
  const made = await server.post(`${api}/clusters`, { name }, admin)
  return String(made.body['id'])
}

withBrowser.describe('a cluster in the browser', () => {
  it('is made with a queue, changed and deleted', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/clusters`)
    await page.getByRole('button', { name: 'New cluster' }).first().click()
    await hasFocus(page, 'Name')
    await dialogOf(page).getByLabel('Name').fill('Machines')
    await dialogOf(page).getByLabel('Emoji').fill(':rocket:')
    await dialogOf(page).getByLabel('Colour').fill('#FFE0F1')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Machines' }).waitFor()
    await page.getByRole('row', { name: 'default · default' }).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const cluster = `${api}/clusters/${id}`

    await page.getByRole('button', { name: 'New queue…' }).click()
    await hasFocus(page, 'Key')
    await dialogOf(page).getByLabel('Key').fill('big')
    await press(page, 'Create queue')
    await page.getByRole('heading', { level: 1, name: 'big' }).waitFor()
    await page.getByRole('button', { name: 'More about this queue' }).click()
    await choose(page, 'Edit…')
    await dialogOf(page).getByLabel('Description').fill('Large machines')
    await dialogOf(page).getByLabel('A retried job prefers').selectOption('Another agent than before')
    await dialogOf(page).getByLabel('Its agents are divided among').selectOption('Creators of builds')
    await dialogOf(page).getByLabel('Most agents for programs, in percent').fill('40')
    const me = (await server.get('/v2/user', admin)).body
    await dialogOf(page).getByLabel('Add a person').fill(String(me['email']))
    await dialogOf(page).getByLabel('Grace', { exact: true }).fill('3')
    await press(page, 'Save')
    await page.getByText('Large machines').waitFor()
    const queues = await rows(server, `${cluster}/queues`, admin)
    expect(queues.find((queue) => String(queue['key']) === 'big')).toMatchObject({
      description: 'Large machines',
      retry_agent_affinity: 'prefer-different',
      fair_by: 'creator',
      fair_weights: { [String(me['id'])]: 3 },
      machine_limit_percent: 40,
    })
    await page.getByRole('button', { name: 'More about this queue' }).click()
    await choose(page, 'Delete…')
    await press(page, 'Delete this queue')
    await said(page, 'The queue big is deleted.')
    await page.getByRole('link', { name: 'default', exact: true }).click()
    await page.getByRole('button', { name: 'More about this queue' }).click()
    expect(await page.getByRole('menuitem', { name: 'Delete…' }).getAttribute('aria-disabled')).toBe('true')

    await page.goto(`${url}/organizations/${slug}/clusters/${id}/settings`)
    await page.getByLabel('Name').fill('Mac minis')
    await page.getByLabel('Default queue').selectOption('None')
    await page.getByRole('button', { name: 'Save' }).click()
    await said(page, 'Saved.')
    expect((await server.get(cluster, admin)).body).toMatchObject({
      name: 'Mac minis',
      emoji: ':rocket:',
      color: '#FFE0F1',
      default_queue_id: null,
    })
    await page.getByRole('button', { name: 'Delete…' }).click()
    const remove = dialogOf(page).getByRole('button', { name: 'Delete this cluster' })
    expect(await remove.isDisabled()).toBe(true)
    await dialogOf(page).getByLabel('Its name').fill('Mac minis')
    await remove.click()
    await page.waitForURL(`${url}/organizations/${slug}/clusters`)
    await page.getByText('No clusters yet').waitFor()
    expect((await server.get(cluster, admin)).status).toBe(404)
    expect(tab.complaints).toEqual([])
  })

  it('has agent tokens, secrets and maintainers, which are made, changed and removed', async () => {
    const organization = await anOrganization()
    const { server, slug, admin, api, url } = organization
    await aPerson(slug, 'member', 'Ada')
    const id = await aCluster(organization)
    const cluster = `${api}/clusters/${id}`
    const tab = await visit()
    const { page } = tab
    await keepMessages(page)
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/clusters/${id}/tokens`)
    await page.getByRole('button', { name: 'New token' }).click()
    await hasFocus(page, 'Description')
    await dialogOf(page).getByLabel('Description').fill('Rack 1')
    await dialogOf(page).getByLabel('Allowed networks').fill('10.0.0.0/8')
    await dialogOf(page).getByLabel('Expires').selectOption('After 30 days')
    await press(page, 'Create token')
    await dialogOf(page).getByText('buildkite-agent start --token mrct_').waitFor()
    await press(page, 'Done')
    await page.getByRole('button', { name: 'Edit Rack 1' }).click()
    await dialogOf(page).getByLabel('Description').fill('Rack 2')
    await dialogOf(page).getByLabel('Allowed networks').fill('')
    await dialogOf(page).getByLabel('Expires').selectOption('Never')
    await press(page, 'Save')
    await page.getByRole('row', { name: 'Rack 2' }).getByText('Any address').waitFor()
    expect(await rows(server, `${cluster}/tokens`, admin)).toMatchObject([
      { description: 'Rack 2', expires_at: null },
    ])
    await page.getByRole('button', { name: 'Revoke…' }).click()
    await press(page, 'Revoke this token')
    await page.getByText('No agent tokens yet').waitFor()

    await page.getByRole('link', { name: 'Secrets' }).click()
    await page.getByRole('button', { name: 'New secret' }).click()
    await hasFocus(page, 'Key')
    await dialogOf(page).getByLabel('Key').fill('DEPLOY_TOKEN')
    await dialogOf(page).getByLabel('Value').fill('correct horse')
    await dialogOf(page).getByLabel('Policy').fill('- pipeline: deploy')
    await press(page, 'Create secret')
    await dialogOf(page).getByRole('alert').getByText('"pipeline" is not a claim').waitFor()
    await dialogOf(page).getByLabel('Policy').fill('- pipeline_slug: deploy')
    await press(page, 'Create secret')
    await said(page, 'The secret DEPLOY_TOKEN is stored.')
    const more = page.getByRole('button', { name: 'More about DEPLOY_TOKEN' })
    await more.click()
    await choose(page, 'New value…')
    expect(await dialogOf(page).getByLabel('New value').inputValue()).toBe('')
    await dialogOf(page).getByLabel('New value').fill('battery staple')
    await press(page, 'Replace the value')
    await said(page, 'DEPLOY_TOKEN has a new value.')
    await more.click()
    await choose(page, 'Edit policy and description…')
    await dialogOf(page).getByLabel('Policy').fill('')
    await press(page, 'Save')
    await page.getByRole('row', { name: 'DEPLOY_TOKEN' }).getByText('Every job').waitFor()
    expect(await rows(server, `${cluster}/secrets`, admin)).toMatchObject([
      { key: 'DEPLOY_TOKEN', policy: '' },
    ])
    expect(await page.content()).not.toContain('battery staple')
    await more.click()
    await choose(page, 'Delete…')
    await press(page, 'Delete this secret')
    await page.getByText('No secrets yet').waitFor()

    await page.getByRole('link', { name: 'Maintainers' }).click()
    await page.getByRole('button', { name: 'Add people…' }).click()
    await press(page, 'Add Ada')
    await dialogOf(page).getByText('Added').waitFor()
    await press(page, 'Done')
    await page.getByRole('button', { name: 'Remove Ada' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Remove Ada' }).waitFor()
    await expect
      .poll(() => rows(server, `${cluster}/maintainers`, admin))
      .toMatchObject([{ actor: { name: 'Ada' } }])
    expect(tab.complaints.filter((text) => !text.includes('422'))).toEqual([])
  })

  it('offers members what they may read, and maintainers the rest', async () => {
    const organization = await anOrganization()
    const { server, slug, admin, api, url } = organization
    const ada = await aPerson(slug, 'member', 'Ada')
    const id = await aCluster(organization)
    const tab = await visit()
    const { page } = tab
    const home = `/organizations/${slug}/clusters/${id}`
    await signIn(tab, { url, token: ada }, home)
    await page.getByText('No queues yet').waitFor()
    expect(await contents(page)).toEqual(['Queues', 'Maintainers'])
    for (const name of ['tokens', 'secrets', 'settings', 'agent_images', 'cache_volumes']) {
      await page.goto(`${url}${home}/${name}`)
      await page.getByText('You may not see this.').waitFor()
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    }
    expect((await server.get(`${api}/clusters/${id}/secrets`, ada)).status).toBe(403)

    const { id: user } = (await rows(server, `${api}/members`, admin)).find(
      (member) => String(member['name']) === 'Ada',
    ) ?? { id: '' }
    await server.post(`${api}/clusters/${id}/maintainers`, { user }, admin)
    await page.goto(`${url}${home}`)
    await page.getByRole('button', { name: 'New queue…' }).waitFor()
    expect(await contents(page)).toEqual(['Queues', 'Agent tokens', 'Secrets', 'Maintainers', 'Settings'])
    await page.getByRole('link', { name: 'Secrets' }).click()
    await page.getByText('No secrets yet').waitFor()
    expect((await server.post(`${api}/clusters/${id}/queues`, { key: 'mine' }, ada)).status).toBe(201)
    await page.goto(`${url}/organizations/${slug}/clusters`)
    await page.getByRole('link', { name: 'Machines' }).waitFor()
    expect(await page.getByRole('button', { name: 'New cluster' }).count()).toBe(0)
    expect(tab.complaints).toEqual([])
  })
})

withBrowser.describe('rules in the browser', () => {
  it('are made, changed and deleted', async () => {
    const organization = await anOrganization()
    const { server, slug, admin, api, url } = organization
    for (const name of ['App', 'Deploy']) {
      const pipeline = {
        name,
        repository: 'https://git.example.com/a.git',
        configuration: 'steps: []',
        cluster_id: await aCluster(organization, name),
      }
      expect(await server.post(`${api}/pipelines`, pipeline, admin)).toMatchObject({ status: 201 })
    }
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/rules`)
    await page.getByRole('button', { name: 'New rule' }).click()
    await hasFocus(page, 'Pipeline')
    await dialogOf(page).getByLabel('Pipeline', { exact: true }).fill('app')
    await dialogOf(page).getByLabel('Other pipeline').fill('deploy')
    await dialogOf(page).getByLabel('Conditions').fill('build.branch == "main"')
    await press(page, 'Create rule')
    const row = page.getByRole('row', { name: 'App trigger builds of Deploy' })
    await row.getByText('build.branch == "main"').waitFor()
    await row.getByRole('button').click()
    await choose(page, 'Edit…')
    await dialogOf(page).getByLabel('Conditions').fill('')
    await dialogOf(page).getByLabel('Description').fill('Deploys of the app')
    await press(page, 'Save')
    await row.getByText('Deploys of the app').waitFor()
    expect(await rows(server, `${api}/rules`, admin)).toMatchObject([
      { conditions: [], description: 'Deploys of the app', target: { slug: 'deploy' } },
    ])
    await row.getByRole('button').click()
    await choose(page, 'Delete…')
    await press(page, 'Delete this rule')
    await page.getByText('No rules yet').waitFor()
    expect(tab.complaints).toEqual([])
  })
})

withBrowser.describe('a queue and its agent', () => {
  it('name pipeline and build of each job, say why it waits, and open it by the keyboard', async () => {
    const server = theServer()
    const scene = await aScene(server, {
      name: 'Long haul',
      steps: 'steps: [{ label: One, command: a }, { label: Two, command: b }]',
    })
    const run = await scene.begin()
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, scene.queuePage)
    const waiting = page.getByRole('table', { name: 'Waiting jobs' }).getByRole('row', { name: 'Two' })
    await waiting.getByText('its agents are busy').waitFor()
    const paths = await waiting
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).pathname))
    expect(paths).toEqual([scene.page, `/default/${scene.pipeline}`, scene.page])
    const agents = page.getByRole('table', { name: 'Agents' })
    await agents.getByRole('link', { name: run.name }).waitFor()
    await agents.getByRole('link', { name: /^agent-/ }).click()
    const jobs = page.getByRole('table', { name: 'Jobs of this agent' })
    await jobs.getByRole('row', { name: run.name }).getByText('Runs now').waitFor()
    await run.finish(1)
    await page.reload()
    await jobs.getByRole('row', { name: run.name }).getByText('Failed').waitFor()
    await jobs.getByRole('link', { name: 'Long haul' }).waitFor()
    await page.locator('h1').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(({ pathname, hash }) => pathname === scene.page && hash === `#${run.id}`)
    expect(tab.complaints).toEqual([])
  })
})
