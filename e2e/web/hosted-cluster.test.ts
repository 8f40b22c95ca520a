import { expect, it } from 'vitest'
import { aDataDirectory, startServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'

withBrowser.describe('hosted clusters in the browser', () => {
  it('are made with a queue and its machine, and get another queue', async () => {
    const server = await startServer({
      MILLRACE_DATA_DIR: aDataDirectory(),
      MILLRACE_HOSTED: 'docker:///nowhere/engine.sock',
    })
    const tab = await visit()
    const { page } = tab
    const dialog = page.getByRole('dialog')
    await signIn(tab, server, '/organizations/default/clusters')
    await page.getByRole('button', { name: 'New cluster' }).click()
    await dialog.getByLabel('Name').fill('Machines')
    await dialog.getByLabel('Agents').selectOption('Hosted: Millrace starts one for each job')
    await dialog.getByLabel('Machine of its agents').selectOption({ index: 1 })
    await dialog.getByRole('button', { name: 'Create cluster' }).click()
    await page.getByRole('heading', { level: 1, name: 'Machines' }).waitFor()
    await page.getByRole('link', { name: 'Agent images' }).waitFor()
    await page.getByRole('button', { name: 'New queue…' }).click()
    await dialog.getByLabel('Key').fill('small')
    await dialog.getByRole('button', { name: 'Create queue' }).click()
    await page.getByRole('heading', { level: 1, name: 'small' }).waitFor()
    const cluster = /clusters\/([\w-]+)/.exec(page.url())?.[1] ?? ''
    const path = `/v2/organizations/default/clusters/${cluster}`
    const queues = Object.values((await server.get(`${path}/queues`)).body)
    const cpus = queues.map(({ key, hosted_agents: hosted }) => [key, hosted?.['instance_shape']?.['cpu']])
    expect(Object.fromEntries(cpus)).toEqual({ default: 4, small: 2 })
    await page.goto(`${server.url}/organizations/default/clusters`)
    await page.getByRole('row', { name: /Machines.*Hosted/ }).waitFor()
    await page.getByRole('row', { name: /Default cluster.*Self-hosted/ }).waitFor()
    expect(tab.complaints).toEqual([])
    // The engine is nowhere.
    for (const [name, problem] of [
      ['cache_volumes', 'Could not load cache volumes'],
      ['agent_images', 'The hosted-agent service could not return the images'],
    ] as const) {
      await page.goto(`${server.url}/organizations/default/clusters/${cluster}/${name}`)
      await page.getByText(problem).and(page.getByText('Trying again…')).waitFor()
      await page.getByRole('heading', { name: problem }).waitFor()
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { name: problem }).waitFor()
    }
    expect(tab.complaints.filter((each) => !each.includes('503'))).toEqual([])
  })
})
