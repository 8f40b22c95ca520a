import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aDirectory } from '../millrace.ts'
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

  it('are where its token is shown and rotated, and the suite deleted', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const suites = `/organizations/${slug}/analytics/suites`
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, suites)
    await page.getByRole('button', { name: 'New suite' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Browser tests')
    await dialog.getByRole('button', { name: 'Create suite' }).click()
    await dialog.getByLabel('Tests are run with').selectOption('Anything that writes JUnit')
    const pasted = () => page.locator('pre').allTextContents()
    const lines = await pasted()
    expect(lines[0]).toMatch(/^export SUITE_TOKEN=mrst_\w{40}$/)

    const folder = aDirectory()
    const report = '<testsuite name="sums"><testcase classname="sums" name="carry" time="0.1"/></testsuite>'
    writeFileSync(join(folder, 'report.xml'), report)
    const paste = (given: readonly string[]) => {
      const { PATH, HOME } = process.env
      const env = { PATH, HOME, BUILDKITE_BRANCH: 'main', BUILDKITE_COMMIT: 'abc' }
      return spawnSync('sh', ['-c', given.join('\n')], { cwd: folder, env, encoding: 'utf8' }).stdout
    }
    expect(JSON.parse(paste(lines))).toMatchObject({ queued: 1, errors: [] })
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'sums › carry' }).waitFor()

    await page.locator('a[href$="/suites/browser-tests/settings"]').click()
    await page.getByRole('button', { name: 'Show the token' }).click()
    await expect.poll(async () => (await pasted())[0]).toBe(lines[0])
    await page.getByRole('button', { name: 'New token…' }).click()
    await dialog.getByRole('button', { name: 'Make a new token' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(async () => (await pasted())[0]).not.toBe(lines[0])
    await page.getByLabel('Tests are run with').selectOption('Anything that writes JUnit')
    expect(JSON.parse(paste(lines))).toMatchObject({ message: expect.stringContaining('not known') })
    expect(JSON.parse(paste(await pasted()))).toMatchObject({ queued: 1 })

    const reader = await aPerson(slug, 'member', 'Ada')
    const other = await visit()
    await signIn(other, { url, token: reader }, suites)
    await other.page.getByRole('link', { name: 'Browser tests' }).waitFor()
    expect(await other.page.getByRole('button', { name: 'New suite' }).count()).toBe(0)

    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog.getByLabel('Its name').fill('Browser tests')
    await dialog.getByRole('button', { name: 'Delete this suite' }).click()
    await page.waitForURL(url + suites)
    await page.getByText('No test suites yet').waitFor()
    const { body } = await server.get(`${api}/audit_events?per_page=100`, admin)
    expect(JSON.stringify(body)).toContain('SuiteApiTokenRegeneratedEvent')
    expect(tab.complaints).toEqual([])
  })
})
