import { expect, it } from 'vitest'
import { signIn, visit, withBrowser } from './browser.ts'
import { anOrganization, aPerson } from './new-organization.ts'

withBrowser.describe('the settings of a test suite in the browser', () => {
  it('change its name, its rules and its teams', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    await server.post(`${api}/suites`, { name: 'Unit', default_branch: 'main' }, admin)
    await server.post(`${api}/teams/enable`, {}, admin)
    await server.post(`${api}/teams`, { name: 'Web', privacy: 'visible' }, admin)
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/analytics/suites/unit`)
    await page.locator('a[href$="/suites/unit/settings"]').click()
    await page.getByLabel('Default branch').fill('trunk')
    await page.getByLabel('Changes that make a test flaky').fill('')
    await page.getByLabel('Tests that become flaky').selectOption('muted')
    const days = page.getByLabel('Days in quarantine by this rule')
    await days.fill('')
    await page.getByText('A number is missing.').waitFor()
    await days.fill('7')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('group', { name: 'Changes' }).waitFor({ state: 'detached' })
    expect((await server.get(`${api}/suites/unit`, admin)).body).toMatchObject({
      default_branch: 'trunk',
      flaky_transitions: null,
      flaky_window: 20,
      quarantine_rule: 'muted',
      quarantine_days: 7,
    })
    await page.getByRole('button', { name: 'Add teams…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Find a team').fill('Web')
    await dialog.getByRole('button', { name: 'Add Web' }).click()
    await dialog.getByText('Added').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByLabel('What members of Web may do').selectOption('Change and delete it')
    const teams = async () =>
      Object.values((await server.get(`${api}/suites/unit/teams`, admin)).body).map(
        ({ access_level: level }) => level as unknown,
      )
    await expect.poll(teams).toEqual([['read', 'edit']])
    await page.getByLabel('Name').fill('Unit tests')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(`${url}/organizations/${slug}/analytics/suites/unit-tests/settings`)
    await page.getByRole('button', { name: 'Remove Web' }).click()
    await page.getByText('No team has this suite').waitFor()
    expect(tab.complaints).toEqual([])

    const reader = await aPerson(slug, 'member', 'Ada')
    const other = await visit()
    await signIn(other, { url, token: reader }, `/organizations/${slug}/analytics/suites/unit-tests/settings`)
    await other.page.getByText('You may not change this suite.').waitFor()
    expect(await other.page.getByLabel('Default branch').count()).toBe(0)
  })
})
