import { expect, it } from 'vitest'
import { eventually, theServer } from '../millrace.ts'
import { keepMessages, signIn, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

const steps = 'steps: [{ label: One, command: a }, { label: Two, command: b }]'

withBrowser.describe('a queue', () => {
  it('is paused with a reason and resumed, also by Undo', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps })
    const isPaused = async () => String((await server.get(scene.queueApi)).body['dispatch_paused'])
    const tab = await visit()
    const { page } = tab
    await keepMessages(page)
    await signIn(tab, server, scene.queuePage)
    const pause = page.getByRole('button', { name: 'Pause dispatch…' })
    const dialog = page.getByRole('dialog')
    await pause.click()
    await dialog.getByRole('button', { name: /^Pause/ }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await pause.waitFor()
    await eventually('dispatch goes on', async () => (await isPaused()) === 'false')

    await pause.click()
    await dialog.getByRole('textbox').fill('the disk is full')
    await dialog.getByRole('button', { name: /^Pause/ }).click()
    await page.getByText('Dispatch is paused by').getByText('the disk is full').waitFor()
    expect(await isPaused()).toBe('true')
    await page.getByRole('button', { name: 'Resume dispatch' }).click()
    await pause.waitFor()
    await eventually('dispatch goes on again', async () => (await isPaused()) === 'false')
    expect(tab.complaints).toEqual([])
  })

  it('tells a waiting job why it waits, how many are ahead and which agents could run it', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps })
    const run = await scene.begin()
    const { body } = await server.get(scene.api)
    const other = Object.values(body['jobs'] ?? {}).find((job) => String(job['id']) !== run.id)
    const waiting = (await server.get(`${scene.api}/jobs/${other?.['id']}/waiting`)).body
    const tab = await visit()
    await signIn(tab, server, `${scene.page}#${other?.['id']}`)
    const panel = tab.page.getByRole('region', { name: `Job ${other?.['name']}` })
    await panel.getByText(String(waiting['reason']), { exact: true }).waitFor()
    const fact = (name: string) =>
      panel.getByText(name, { exact: true }).locator('xpath=following-sibling::*[1]')
    expect(await fact('Jobs ahead').textContent()).toBe(String(waiting['jobs_ahead']))
    expect(await fact('Agents that could run it').textContent()).toBe('1')
    expect(tab.complaints).toEqual([])
  })
})
