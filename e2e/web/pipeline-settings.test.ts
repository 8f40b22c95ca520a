// A pipeline's settings in one visit, each change looked up in the API.
import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { keepMessages, signIn, visit, withBrowser } from './browser.ts'
import { anOrganization } from './new-organization.ts'

const said = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text).first().waitFor()

withBrowser.describe('the settings of a pipeline', () => {
  it('are changed, each on its page, until the pipeline is archived and deleted', async () => {
    const { server: shared, slug, admin, api: org, url } = await anOrganization()
    const server = {
      url,
      token: admin,
      get: (path: string) => shared.get(path, admin),
      post: (path: string, body: object) => shared.post(path, body, admin),
    }
    const cluster = await server.post(`${org}/clusters`, { name: 'Machines' })
    const unique = Date.now().toString(36)
    const made = await server.post(`${org}/pipelines`, {
      name: `Settings ${unique}`,
      slug: `settings-${unique}`,
      repository: 'git@github.com:acme/app.git',
      cluster_id: cluster.body['id'],
      configuration: 'steps:\n  - command: make\n',
    })
    const team = await server.post(`${org}/teams`, { name: `Readers ${unique}` })
    expect([made.status, team.status]).toEqual([201, 201])
    const api = `${org}/pipelines/renamed-${unique}`
    const stored = async (path = '') => (await server.get(api + path)).body
    const settings = `${url}/${slug}/renamed-${unique}/settings`
    const tab = await visit()
    const { page } = tab
    const dialog = page.getByRole('dialog')
    const save = async () => {
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('group', { name: 'Changes' }).waitFor({ state: 'detached' })
    }
    const go = (name: string) =>
      page
        .getByRole('navigation', { name: /^Settings of/ })
        .getByRole('link', { name, exact: true })
        .click()

    // General: a new name keeps the address, a new address moves the page.
    await keepMessages(page)
    await signIn(tab, server, `/${slug}/settings-${unique}`)
    await page.getByRole('main').getByRole('link', { name: 'Settings' }).click()
    await page.waitForURL(`${url}/${slug}/settings-${unique}/settings/general`)
    await page.getByLabel('Name', { exact: true }).fill(`:rocket: Renamed ${unique}`)
    await page.getByLabel('Tags').fill(`backend, ${unique}`)
    await save()
    expect((await server.get(`${org}/pipelines/settings-${unique}`)).body).toMatchObject({
      name: `:rocket: Renamed ${unique}`,
      tags: ['backend', unique],
    })
    await page.getByLabel('Address').fill(`renamed-${unique}`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(`${settings}/general`)
    await page.getByRole('group', { name: 'Changes' }).waitFor({ state: 'detached' })
    expect(await page.getByLabel('Address').inputValue()).toBe(`renamed-${unique}`)

    // The list is filtered by a tag, which the pipeline's page leads to.
    await page.goto(`${url}/${slug}/renamed-${unique}`)
    await page.getByRole('main').getByRole('link', { name: unique, exact: true }).click()
    const listed = page.getByRole('list', { name: 'Pipelines' }).getByRole('listitem')
    await listed.getByText(`🚀 Renamed ${unique}`).waitFor()
    expect(await listed.count()).toBe(1)
    const chip = page.getByRole('group', { name: 'Tag' }).getByRole('button', { name: unique })
    expect(await chip.getAttribute('aria-pressed')).toBe('true')
    await page.goto(`${settings}/general`)

    await go('Steps')
    await page.getByRole('textbox', { name: 'Steps of the pipeline, in YAML' }).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('  - command: make test')
    await save()
    expect(String((await stored())['configuration'])).toContain('make test')

    await go('Repository')
    await page.getByText('/deliver/').waitFor()
    await page.getByText('None has come yet.').waitFor()
    const delivered = await page.request.post(String((await stored())['provider']?.['webhook_url']), {
      headers: { 'X-GitHub-Event': 'ping' },
      data: { zen: 'Keep it simple.', repository: { clone_url: 'https://github.com/acme/app.git' } },
    })
    expect(delivered.status()).toBe(200)
    await page.getByText('The webhook works', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Look for missed pushes now' }).click()
    await page.getByText('The repository is being asked.').waitFor()
    await page.getByLabel('Pushed tags').check()
    await save()
    expect((await stored())['provider']?.['settings']).toMatchObject({ build_tags: true })

    // Schedules, by keyboard.
    await go('Schedules')
    await page.getByText('No schedules yet').waitFor()
    await page.getByRole('button', { name: 'New schedule' }).press('Enter')
    await expect.poll(() => dialog.getByLabel('Name').evaluate((field) => field.matches(':focus'))).toBe(true)
    await page.keyboard.type('Nightly')
    await dialog.getByLabel('Cron line').fill('*/5 * * * *')
    await dialog.getByText('must not run more often than every 10 minutes').waitFor()
    await dialog.getByLabel('Cron line').fill('30 4 * * *')
    await expect.poll(() => dialog.locator('time').count()).toBe(5)
    await dialog.getByLabel('Environment variables').fill('FULL=yes')
    await page.keyboard.press('Tab')
    await dialog.getByRole('button', { name: 'Create schedule' }).press('Enter')
    await dialog.waitFor({ state: 'detached' })
    const row = page.getByRole('list', { name: 'Schedules' }).getByRole('listitem')
    await expect.poll(() => row.locator('time').count()).toBe(5)
    expect((await stored('/schedules'))['0']).toMatchObject({ cronline: '30 4 * * *', env: { FULL: 'yes' } })
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await dialog.getByLabel('Branch').fill('release')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await row.getByText('on release').waitFor()
    await row.getByRole('button', { name: 'More about Nightly' }).click()
    await page.getByRole('menuitem', { name: 'Turn off' }).click()
    await said(page, 'Nightly is off.')
    expect((await stored('/schedules'))['0']).toMatchObject({ enabled: false, branch: 'release' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(async () => (await stored('/schedules'))['0']?.['enabled']).toBe(true)
    await row.getByRole('button', { name: 'Run now: Nightly' }).click()
    await page.waitForURL(`${url}/${slug}/renamed-${unique}/builds/1`)
    expect(await stored('/builds/1')).toMatchObject({
      branch: 'release',
      message: 'Nightly',
      env: { FULL: 'yes' },
    })
    await page.goto(`${settings}/schedules`)
    await row.getByRole('button', { name: 'More about Nightly' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await dialog.getByRole('button', { name: 'Delete this schedule' }).click()
    await page.getByText('No schedules yet').waitFor()

    await go('Access')
    await page.getByRole('button', { name: 'Add teams…' }).click()
    await dialog.getByLabel('Find a team').fill(unique)
    await dialog.getByRole('button', { name: `Add Readers ${unique}` }).click()
    await dialog.getByText('Added').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByLabel(`What members of Readers ${unique} may do`).selectOption('Read')
    await expect.poll(async () => (await stored('/teams'))['0']?.['access_level']).toBe('read_only')
    await page.getByRole('button', { name: `Remove Readers ${unique}` }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(async () => (await stored('/teams'))['0']?.['access_level']).toBe('read_only')

    await go('Badges')
    const image = page.getByRole('img', { name: 'The badge as it is now' })
    await page.getByLabel('Branch').fill('release')
    await page.getByText('.svg?branch=release').first().waitFor()
    await expect
      .poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth))
      .toBeGreaterThan(0)

    await go('Retention')
    await page.getByLabel('Logs, in days').fill('30')
    await save()
    expect((await stored('/retention'))['log_days']).toBe(30)

    await go('Archive or delete')
    await page.getByRole('button', { name: 'Archive', exact: true }).click()
    await page.getByRole('button', { name: 'Unarchive' }).waitFor()
    await go('General')
    await page.getByText('is archived, so it cannot be changed').waitFor()
    await page.getByRole('link', { name: 'Unarchive…' }).click()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await expect
      .poll(() => dialog.getByRole('textbox').evaluate((field) => field.matches(':focus')))
      .toBe(true)
    await page.keyboard.type(`:rocket: Renamed ${unique}`)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/${slug}`)
    expect((await server.get(api)).status).toBe(404)
    expect(tab.complaints.filter((text) => !text.includes('422'))).toEqual([])
  })
})
