import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { keepMessages, signIn, visit, withBrowser } from './browser.ts'
import { anOrganization, aPerson } from './new-organization.ts'

const dialogOf = (page: Page) => page.getByRole('dialog')
const said = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text).first().waitFor()

withBrowser.describe('an organization in the browser', () => {
  it('is renamed, and asks before unsaved changes are lost', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings`)
    await page.waitForURL(`${url}/organizations/${slug}/settings/general`)
    const name = page.getByLabel('Name')
    await name.fill(':rocket: After')
    await page.getByRole('link', { name: 'Members' }).click()
    await dialogOf(page).getByRole('button', { name: 'Stay here' }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
    expect(await name.inputValue()).toBe(':rocket: After')
    await page.getByRole('button', { name: 'Save' }).click()
    await said(page, 'Saved.')
    await page.getByRole('group', { name: 'Changes' }).waitFor({ state: 'detached' })
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByText('🚀 After').waitFor()
    expect(String((await server.get(api, admin)).body['name'])).toBe(':rocket: After')
    await page.getByLabel('Emoji').fill(':tada:')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByText('🎉 🚀 After').waitFor()
    await page.getByRole('group', { name: 'Changes' }).waitFor({ state: 'detached' })
    await name.fill(' ')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await name.inputValue()).toBe(':rocket: After')
    expect(tab.complaints.filter((text) => !text.includes('422'))).toEqual([])
  })

  it('gets members by invitations, which are sent again and revoked', async () => {
    const { slug, admin, url } = await anOrganization()
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/invitations`)
    const invite = page.getByRole('button', { name: 'Invite people' })
    await invite.click()
    await dialogOf(page).getByLabel('Email addresses').fill(`new@${slug}.example, other@${slug}.example`)
    await dialogOf(page).getByRole('button', { name: 'Invite 2 people' }).click()
    await dialogOf(page).getByText(`${url}/-/invitations/mriv_`).first().waitFor()
    const first = await dialogOf(page).locator('pre').first().innerText()
    await dialogOf(page).getByRole('button', { name: 'Done' }).click()
    const row = page.getByRole('row', { name: `new@${slug}.example` })
    await row.getByRole('button', { name: 'Send again' }).click()
    const second = await dialogOf(page).locator('pre').innerText()
    expect(second).not.toBe(first)
    await dialogOf(page).getByRole('button', { name: 'Done' }).click()
    const other = page.getByRole('row', { name: `other@${slug}.example` })
    await other.getByRole('button', { name: 'Revoke…' }).click()
    await dialogOf(page).getByRole('button', { name: 'Revoke it' }).click()
    await other.waitFor({ state: 'detached' })
    const guest = await visit()
    await guest.page.goto(first)
    await guest.page.getByRole('heading', { level: 1 }).waitFor()
    expect(await guest.page.getByLabel('Name').count()).toBe(0)
    await guest.page.goto(second)
    await guest.page.getByLabel('Name').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('changes roles and removes members, and refuses to lose its last administrator', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    await aPerson(slug, 'member', 'Ada')
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/members`)
    await page.getByLabel('Role of Ada').selectOption('Administrator')
    const roleOf = async (name: string) =>
      Object.values((await server.get(`${api}/members`, admin)).body).find(
        (member) => String(member['name']) === name,
      )?.['role']
    await expect.poll(() => roleOf('Ada')).toBe('admin')
    expect(await page.getByLabel('Role of Grace').count()).toBe(0)
    await page.getByLabel('Find a member').fill('ada')
    await page.getByRole('row', { name: 'Grace' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove Ada' }).click()
    await dialogOf(page).getByRole('button', { name: 'Remove this member' }).click()
    await said(page, 'Ada is no member any more.')
    await page.getByText('Nobody is found.').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('makes a team, with members and pipelines, and takes them away again', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    await aPerson(slug, 'member', 'Ada')
    const cluster = await server.post(`${api}/clusters`, { name: 'Machines' }, admin)
    const pipeline = {
      name: 'App',
      repository: 'https://git.example.com/a.git',
      configuration: 'steps: []',
      cluster_id: cluster.body['id'],
    }
    expect(await server.post(`${api}/pipelines`, pipeline, admin)).toMatchObject({ status: 201 })
    const tab = await visit()
    const { page } = tab
    await keepMessages(page)
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/teams`)
    await page.getByText('Teams are off').waitFor()
    await page.getByRole('button', { name: 'New team' }).click()
    await dialogOf(page).getByLabel('Name').fill('Mobile')
    await dialogOf(page).getByRole('button', { name: 'Create team' }).click()
    await page.getByRole('heading', { level: 1, name: 'Mobile' }).waitFor()
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' })
    await crumbs.getByRole('link', { name: 'Mobile' }).waitFor()
    expect(await crumbs.getByRole('link').allInnerTexts()).toEqual(['Before', 'Settings', 'Teams', 'Mobile'])

    await page.getByRole('button', { name: 'Add members…' }).click()
    await dialogOf(page).getByRole('button', { name: 'Add Ada' }).click()
    await dialogOf(page).getByText('Added').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Done' }).click()
    await page.getByLabel('Role of Ada').selectOption('Maintainer')
    await page.getByRole('button', { name: 'Add pipelines…' }).click()
    await dialogOf(page).getByRole('button', { name: 'Add App' }).click()
    await dialogOf(page).getByText('Added').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Done' }).click()
    await page.getByLabel('What members may do with App').selectOption('Read')
    await page.getByLabel('Create pipelines').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await said(page, 'Saved.')
    const id = String(
      Object.values((await server.get(`${api}/teams`, admin)).body).find(
        (team) => String(team['name']) === 'Mobile',
      )?.['id'],
    )
    const team = `${api}/teams/${id}`
    await expect
      .poll(async () => (await server.get(`${team}/members`, admin)).body['0']?.['role'])
      .toBe('maintainer')
    await expect
      .poll(async () => (await server.get(`${team}/pipelines`, admin)).body['0']?.['access_level'])
      .toBe('read_only')
    expect((await server.get(team, admin)).body['members_can_create_pipelines']).toBe(true)

    await page.getByRole('button', { name: 'Remove Ada' }).click()
    await said(page, 'Ada has left the team.')
    expect(await page.getByRole('button', { name: 'Remove Ada' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Remove Ada' }).waitFor()
    expect((await server.get(`${team}/members`, admin)).body['0']?.['role']).toBe('maintainer')
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialogOf(page).getByRole('button', { name: 'Delete this team' }).click()
    await page.waitForURL(`${url}/organizations/${slug}/settings/teams`)
    expect((await server.get(team, admin)).status).toBe(404)
    expect(tab.complaints).toEqual([])
  })

  it('stores API, pipeline and retention settings, and previews what would be deleted', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const tab = await visit()
    const { page } = tab
    const settings = `${url}/organizations/${slug}/settings`
    const save = async () => {
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('group', { name: 'Changes' }).waitFor({ state: 'detached' })
    }
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/api`)
    await page.getByLabel('Only administrators may make access tokens').check()
    await save()
    expect((await server.get(`${api}/api-settings`, admin)).body).toMatchObject({
      restrict_user_api_token_creation: true,
    })

    await page.goto(`${settings}/pipelines`)
    await page.getByLabel('Longest timeout of a step').fill('60')
    await page.getByLabel('Timeout of steps').fill('90')
    await page.getByText('The timeout of steps is longer than the longest one.').waitFor()
    await page.getByLabel('Timeout of steps').fill('30')
    await save()
    await page.getByRole('button', { name: 'Turn on' }).first().click()
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
    expect((await server.get(`${api}/pipeline-settings`, admin)).body).toMatchObject({
      default_timeout_in_minutes: 30,
      maximum_timeout_in_minutes: 60,
      public_pipeline_creation: { enabled: true },
    })

    await page.goto(`${settings}/retention`)
    await page.getByLabel('Logs, in days').fill('30')
    await page.getByRole('button', { name: 'Show what would be deleted' }).click()
    await page.getByText('Nothing would be deleted now.').waitFor()
    expect((await server.get(`${api}/retention`, admin)).body['log_days']).toBe(null)
    await save()
    expect((await server.get(`${api}/retention`, admin)).body['log_days']).toBe(30)
    expect(tab.complaints).toEqual([])
  })

  it('finds in the audit log what was done, and downloads it', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    await server.post(`${api}/teams`, { name: 'Mobile' }, admin)
    await server.post(`${api}/teams`, { name: 'Desktop' }, admin)
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/audit-log`)
    const rows = page.getByRole('table', { name: 'Audit events' }).getByRole('row')
    await rows.filter({ hasText: 'Team created' }).nth(1).waitFor()
    await page.getByLabel('Find a name').fill('mobile')
    await rows.filter({ hasText: 'Desktop' }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('q')).toBe('mobile')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download as CSV' }).click()
    expect((await downloading).suggestedFilename()).toBe(`audit-log-${slug}.csv`)
    await rows.filter({ hasText: 'Mobile' }).getByRole('button', { name: /^Show/ }).click()
    await dialogOf(page).getByText('SessionContext').or(dialogOf(page).getByText('APIContext')).waitFor()
    await dialogOf(page).getByRole('button', { name: 'All of this kind' }).click()
    await rows.filter({ hasText: 'Desktop' }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows members only what they may open, and says who may', async () => {
    const { slug, url } = await anOrganization()
    const token = await aPerson(slug, 'member', 'Ada')
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token }, `/organizations/${slug}/settings`)
    await page.waitForURL(`${url}/organizations/${slug}/settings/members`)
    await page.getByRole('row', { name: 'Grace' }).waitFor()
    const offered = await page.getByRole('main').getByRole('button').or(page.locator('main select')).count()
    expect(offered).toBe(0)
    const list = page.getByRole('navigation', { name: 'Settings of Before' })
    expect(await list.getByRole('link').allInnerTexts()).toEqual([
      'Members',
      'Service accounts',
      'Teams',
      'Pipeline templates',
      'Rules',
      'Archive',
    ])
    for (const name of ['general', 'invitations', 'sso', 'api', 'pipelines', 'retention', 'audit-log']) {
      await page.goto(`${url}/organizations/${slug}/settings/${name}`)
      await page.getByText('You may not see this.').waitFor()
      await page.getByText(/Only administrators of the organization may/).waitFor()
    }
    expect(tab.complaints).toEqual([])
  })
})
