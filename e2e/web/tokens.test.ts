import { expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'

withBrowser.describe('access tokens', () => {
  it('are shown once, work, and get 401 when they are revoked', async () => {
    const server = theServer()
    const description = `For tests ${process.pid} ${Date.now()}`
    const tab = await visit()
    await signIn(tab, server, '/-/me/tokens')
    const { page } = tab
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Description').fill(description)
    await dialog.getByRole('button', { name: 'Read only' }).click()
    await dialog.getByRole('button', { name: 'Create token' }).click()
    await dialog.getByText('it is not shown again').waitFor()
    const token = await dialog.locator('pre').innerText()
    const use = async () => (await server.get('/v2/organizations/default/pipelines', token)).status
    expect(await use()).toBe(200)
    await dialog.getByRole('button', { name: 'Done' }).click()
    const row = page.getByRole('row', { name: description })
    await row.waitFor()
    await page.reload()
    await row.waitFor()
    expect(await page.content()).not.toContain(token)
    await row.getByRole('button', { name: 'Revoke…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke this token' }).click()
    await page.getByRole('status').getByText('is revoked').waitFor()
    await row.waitFor({ state: 'detached' })
    expect(await use()).toBe(401)
    expect(tab.complaints).toEqual([])
  })

  it('are proposed to whoever logs in with the command line', async () => {
    const server = theServer()
    const description = `millrace on laptop ${process.pid} ${Date.now()}`
    const tab = await visit()
    await signIn(tab, server, `/-/me/tokens?new=${encodeURIComponent(description)}`)
    const { page } = tab
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Description').inputValue()).toBe(description)
    await dialog.getByRole('button', { name: 'Create token' }).click()
    await dialog.getByText('it is not shown again').waitFor()
    const token = await dialog.locator('pre').innerText()
    const { body } = await server.get('/v2/access-token', token)
    expect(body['scopes']).toEqual(
      expect.arrayContaining(['read_build_logs', 'write_builds', 'write_secrets']),
    )
    expect(body['scopes']).not.toContain('write_organizations')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.waitForURL(`${server.url}/-/me/tokens`)
    await page.getByRole('row', { name: description }).waitFor()
    expect(tab.complaints).toEqual([])
  })
})
