import { expect, it } from 'vitest'
import { signIn, visit, withBrowser } from './browser.ts'
import { connectProgram } from './connect-program.ts'
import { anOrganization, aPerson } from './new-organization.ts'

withBrowser.describe('programs in the browser', () => {
  it('of members are listed for administrators, who refuse them', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const member = await visit()
    await signIn(member, { url, token: await aPerson(slug, 'member', 'Ada') }, '/-/me')
    const token = await connectProgram(member.page, { url }, 'Assistant')
    expect((await server.get(api, token)).status).toBe(200)

    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/programs`)
    await page.getByRole('row', { name: /Assistant.*Ada/ }).waitFor()
    await page.getByRole('button', { name: 'Revoke Assistant for Ada' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke its access' }).click()
    await page.getByText('No member has connected a program').waitFor()
    expect((await server.get(api, token)).status).toBe(401)
    expect([...tab.complaints, ...member.complaints]).toEqual([])
  })

  it('of a trusted issuer act as a service account, until it is trusted no more', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const account = await server.post(`${api}/service_accounts`, { name: 'Deployer' }, admin)
    expect(account.status).toBe(201)
    const tab = await visit()
    const { page } = tab
    const dialog = page.getByRole('dialog')
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/token-issuers`)
    await page.getByRole('button', { name: 'New trusted issuer' }).click()
    await dialog.getByLabel('Issuer').fill('https://tokens.example.com')
    await dialog.getByLabel('Which of its tokens').fill('nonsense')
    await dialog.getByLabel('Service account').selectOption('Deployer')
    await dialog.getByRole('button', { name: 'Read only' }).click()
    await dialog.getByRole('button', { name: 'Trust this issuer' }).click()
    await dialog.getByRole('alert').getByText('“nonsense” is not like sub = release-server.').waitFor()
    await dialog.getByLabel('Which of its tokens').fill('sub = release\nsub = nightly')
    await dialog.getByRole('button', { name: 'Trust this issuer' }).click()
    await page.getByRole('row', { name: /tokens\.example\.com.*Deployer/ }).waitFor()
    const { body } = await server.get(`${api}/token_issuers`, admin)
    expect(body['0']).toMatchObject({ claims: { sub: ['release', 'nightly'] }, most_minutes: 60, jwks: null })

    await page.getByRole('button', { name: 'More about https://tokens.example.com' }).click()
    await page.getByRole('menuitem', { name: 'Edit…' }).click()
    await dialog.getByLabel('Minutes until they expire').fill('5')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /5 min/ }).waitFor()
    await page.getByRole('button', { name: 'More about https://tokens.example.com' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await dialog.getByRole('button', { name: 'Delete this issuer' }).click()
    await page.getByText('No issuer is trusted').waitFor()
    expect(tab.complaints).toEqual([])
  })
})
