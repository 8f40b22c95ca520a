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

  it('draws its chart again when the theme changes', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps })
    const tab = await visit({ theme: 'light' })
    const { page } = tab
    await signIn(tab, server, scene.queuePage)
    await page.locator('canvas').waitFor()
    const colours = new Set<string>()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await expect.poll(() => page.evaluate(colourOfGrid)).not.toBeNull()
      colours.add(String(await page.evaluate(colourOfGrid)))
    }
    expect(colours.size).toBe(2)
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

/** The colour that borders have in the theme of now; null while the chart has no line in it. */
function colourOfGrid(): string | null {
  const canvas = document.querySelector('canvas')
  const drawn = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? []
  const probe = new OffscreenCanvas(1, 1).getContext('2d')
  if (probe === null) return null
  const element = document.body.appendChild(document.createElement('span'))
  element.style.color = 'var(--border)'
  probe.fillStyle = getComputedStyle(element).color
  element.remove()
  probe.fillRect(0, 0, 1, 1)
  const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data
  for (let at = 0; at < drawn.length; at += 4)
    if (drawn[at] === red && drawn[at + 1] === green && drawn[at + 2] === blue && drawn[at + 3] === 255)
      return probe.fillStyle
  return null
}
