import { expect, it } from 'vitest'
import { signIn, visit, withBrowser } from './browser.ts'
import { anOrganization } from './new-organization.ts'

withBrowser.describe('service accounts in the browser', () => {
  it('are created, get a token that works, and are deleted with it', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const tab = await visit()
    const { page } = tab
    const dialog = page.getByRole('dialog')
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/service-accounts`)
    await page.getByRole('button', { name: 'New service account' }).click()
    await dialog.getByLabel('Name').fill('Deployer')
    await dialog.getByLabel('What it does').fill('Starts releases.')
    await dialog.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('row', { name: 'Deployer' }).getByText('Starts releases.').waitFor()
    await page.getByRole('button', { name: 'Tokens of Deployer' }).click()
    await dialog.getByRole('button', { name: 'New token' }).click()
    await dialog.getByLabel('Description').fill('Release server')
    await dialog.getByRole('button', { name: 'Read only' }).click()
    await dialog.getByRole('button', { name: 'Create token' }).click()
    const token = (await dialog.locator('pre').innerText()).trim()
    expect((await server.get(`${api}/builds`, token)).status).toBe(200)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.getByText('Release server').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('button', { name: 'Delete Deployer' }).click()
    await dialog.getByRole('button', { name: 'Delete this account' }).click()
    await page.getByText('There is no service account.').waitFor()
    expect((await server.get(`${api}/builds`, token)).status).toBe(401)
    expect(tab.complaints).toEqual([])
  })
})
