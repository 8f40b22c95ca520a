// What pages say, where it depends on the visitor or on how something was made.
import { expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

withBrowser.describe('the pages', () => {
  it('name the keys that the visitor has', async () => {
    const server = theServer()
    const agents = {
      'Ctrl K': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36',
      '⌘K': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/140.0.0.0 Safari/537.36',
    }
    for (const [keys, userAgent] of Object.entries(agents)) {
      const tab = await visit({ userAgent })
      await signIn(tab, server, '/default')
      await tab.page.locator('header kbd', { hasText: 'K' }).waitFor()
      expect(await tab.page.locator('header kbd').allTextContents()).toEqual([keys])
      expect(tab.complaints).toEqual([])
    }
  })

  it('say of a build that was made by a button that it was made by hand, and of another one not', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const tab = await visit()
    await signIn(tab, server, scene.page)
    await tab.page.getByText('through the API').waitFor()
    await tab.page.goto(`${server.url}/default/${scene.pipeline}`)
    await tab.page.getByRole('button', { name: 'New build' }).click()
    await tab.page.getByRole('button', { name: 'Create build' }).click()
    await tab.page.waitForURL(/builds\/2$/)
    await tab.page.getByText('by hand').waitFor()
    await tab.page.getByRole('button', { name: 'Rebuild' }).click()
    await tab.page.waitForURL(/builds\/3$/)
    await tab.page.getByText('by hand').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('have the buttons of the graph where they cover no step', async () => {
    const server = theServer()
    const steps = Array.from({ length: 20 }, (_, index) => `{ label: "Step ${index}", command: make }`)
    const scene = await aScene(server, { steps: `steps: [${steps.join(', ')}]` })
    for (const height of [500, 800]) {
      const tab = await visit({ height })
      await signIn(tab, server, `${scene.page}?view=graph`)
      await tab.page.getByRole('button', { name: 'Fit' }).click()
      await tab.page.locator('[data-step]').first().waitFor()
      const covered = await tab.page.evaluate(() => {
        const [button] = document.querySelectorAll('button[aria-label="Zoom in"]')
        const controls = button?.parentElement?.getBoundingClientRect()
        const scroller = document
          .querySelector('[data-step]')
          ?.closest('[role=group]')
          ?.getBoundingClientRect()
        return controls === undefined || scroller === undefined ? null : controls.top < scroller.bottom
      })
      expect(covered).toBe(false)
    }
  })
})
