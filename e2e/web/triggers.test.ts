// The triggers of a pipeline in the browser: made, tried, sent to, read, turned off, given another address and deleted.
import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { signIn, visit, withBrowser } from './browser.ts'
import { findProblems } from './look.ts'
import { anOrganization } from './new-organization.ts'

withBrowser.describe('the triggers of a pipeline', () => {
  it('are made, tried and deleted, and show what was received', async () => {
    const { server: shared, slug, admin, api: org, url } = await anOrganization()
    const cluster = await shared.post(`${org}/clusters`, { name: 'Machines' }, admin)
    const made = await shared.post(
      `${org}/pipelines`,
      {
        name: 'App',
        slug: 'app',
        repository: 'git@github.com:acme/app.git',
        cluster_id: cluster.body['id'],
        configuration: 'steps:\n  - command: make\n',
      },
      admin,
    )
    expect(made.status).toBe(201)
    const stored = async (path = '/triggers') => (await shared.get(`${org}/pipelines/app${path}`, admin)).body
    const tab = await visit()
    const { page } = tab
    const dialog = page.getByRole('dialog')
    await signIn(tab, { url, token: admin }, `/${slug}/app/settings/triggers`)

    await page.getByText('No triggers yet').waitFor()
    await page.getByRole('button', { name: 'New trigger' }).click()
    await dialog.getByLabel('Name').fill('Base image')
    await dialog.getByLabel('Branch', { exact: true }).fill('/ref')
    await dialog.getByLabel('Branch if the payload has none').fill('main')
    await dialog.getByLabel('Environment variables').fill('TAG=/push/tag\nFULL=yes')
    await dialog.getByLabel('Only if').fill('payload("action") == "pushed"')
    await dialog.getByRole('button', { name: 'Create trigger' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Only if').fill('payload("/action") == "pushed"')
    await dialog.getByLabel('Header').fill('X-Hub-Signature-256')
    expect(await findProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create trigger' }).click()
    await dialog.getByText('Copy it now').waitFor()
    const secret = await dialog.getByText(/^mrtr_/).textContent()
    const address = await dialog.getByText('/deliver/trigger/').textContent()
    await dialog.getByRole('button', { name: 'Done' }).click()
    expect((await stored())['0']).toMatchObject({
      branch: { pointer: '/ref', default: 'main' },
      env: { TAG: { pointer: '/push/tag' }, FULL: { text: 'yes' } },
      signature_header: 'X-Hub-Signature-256',
    })

    await page.getByRole('button', { name: 'Try Base image' }).click()
    const outcome = dialog.getByRole('status', { name: 'Outcome' })
    await dialog.getByLabel('Payload').fill('{"action": "pushed", "push": {"tag": "2.1"}}')
    await dialog.getByRole('button', { name: 'Try', exact: true }).click()
    await outcome.getByText('A build would be made.').waitFor()
    await outcome.getByText('2.1', { exact: true }).waitFor()
    await dialog.getByLabel('Payload').fill('{"action": "deleted", "push": {"tag": "2.1"}}')
    await dialog.getByRole('button', { name: 'Try', exact: true }).click()
    await outcome.getByText('The condition does not hold').waitFor()
    expect(await findProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    const body = '{"action": "pushed", "push": {"tag": "2.1"}}'
    const signature = createHmac('sha256', secret ?? '')
      .update(body)
      .digest('hex')
    const headers = { 'X-Hub-Signature-256': `sha256=${signature}` }
    const sent = await fetch(address ?? '', { method: 'POST', body, headers })
    expect(sent.status).toBe(200)
    expect((await fetch(address ?? '', { method: 'POST', body })).status).toBe(401)
    await page.getByRole('button', { name: 'Deliveries of Base image' }).click()
    await dialog.getByRole('link', { name: 'Build #1 was made.' }).waitFor()
    await dialog.getByText('The signature is missing or wrong').waitFor()
    await dialog.getByRole('button', { name: 'Show' }).last().click()
    await dialog.getByText(body).waitFor()
    await dialog.getByText('[redacted]').first().waitFor()
    expect(await findProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).click()

    const menu = async (entry: string) => {
      await page.getByRole('button', { name: 'More about Base image' }).click()
      await page.getByRole('menuitem', { name: entry }).click()
    }
    await menu('Edit…')
    await dialog.getByLabel('Message of the builds').fill('/title')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await stored())['0']).toMatchObject({
      message: { pointer: '/title' },
      env: { TAG: { pointer: '/push/tag' }, FULL: { text: 'yes' } },
    })
    await menu('Turn off')
    await expect.poll(async () => (await stored())['0']?.['enabled']).toBe(false)
    await menu('New address…')
    await dialog.getByRole('button', { name: 'Make a new address' }).click()
    await dialog.getByText('Copy it now').waitFor()
    expect(await dialog.getByText('/deliver/trigger/').textContent()).not.toBe(address)
    await dialog.getByRole('button', { name: 'Done' }).click()
    expect((await fetch(address ?? '', { method: 'POST', body, headers })).status).toBe(404)
    await menu('Delete…')
    await dialog.getByRole('button', { name: 'Delete this trigger' }).click()
    await page.getByText('No triggers yet').waitFor()
    expect(await stored('/builds/1')).toMatchObject({
      env: { TAG: '2.1', FULL: 'yes' },
      trigger_name: 'Base image',
    })
  })
})
