import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { seeRow } from './log-page.ts'
import { aScene, rowsOf } from './scene.ts'

/** Presses Tab until the focus is on this, as somebody without a mouse does. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const seen: string[] = []
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    const focused = await describeFocus(page)
    seen.push(focused.name)
    if (!name.test(focused.name)) continue
    expect([focused.name, focused.isVisible]).toEqual([focused.name, true])
    return
  }
  throw new Error(`The focus never came to ${String(name)}: ${seen.join(', ')}`)
}

const describeFocus = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement
    if (element === null) return { name: '', isVisible: false }
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
    const hasOutline = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1
    return {
      name: element.getAttribute('aria-label') ?? element.textContent?.trim() ?? '',
      isVisible: hasOutline || boxShadow !== 'none',
    }
  })

withBrowser.describe('the keyboard', () => {
  it('is enough from the list of pipelines to the failing row and a retry, and the focus is visible', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const run = await scene.begin()
    await run.write(`${rowsOf(1, 300)}\x1b[31mError: no\x1b[0m\r\n${rowsOf(302, 600)}`)
    await run.finish(1)
    const tab = await visit()
    await signIn(tab, server, '/default')
    const { page } = tab
    await page.getByRole('list', { name: 'Pipelines' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(scene.pipeline)
    await page.waitForURL(/\?q=/)
    await page
      .getByRole('group', { name: 'Last builds' })
      .getByRole('link', { name: /#1 Failed/ })
      .waitFor()
    await tabTo(page, /#1 Failed/)
    await page.keyboard.press('Enter')
    await seeRow(page, 301)
    await page.keyboard.press('3')
    await page.getByRole('table', { name: 'Jobs' }).waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).waitFor()
    await page.keyboard.press('r')
    const second = await scene.begin()
    await page.waitForURL(new RegExp(second.id))
    await tabTo(page, /^Cancel$/)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect((await describeFocus(page)).name).toBe('Cancel')
    expect(tab.complaints).toEqual([])
  })
})
