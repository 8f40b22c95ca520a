import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { keyboard } from './hands.ts'
import { seeRow } from './log-page.ts'
import { anOrganization } from './new-organization.ts'
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
    // The link of a row has its outline around the row.
    const outlined = element.matches('.row-link') ? '::after' : null
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element, outlined)
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
    await tabTo(page, /^Scene/)
    await page.keyboard.press('ArrowRight')
    expect((await describeFocus(page)).name).toMatch(/#1 Failed/)
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

  it('walks lists by the arrows, a row at a time, with one stop of Tab for each row', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: One, command: make }]' })
    await server.post(scene.api.replace(/\/\d+$/, ''), {
      commit: 'HEAD',
      branch: 'main',
      message: 'Newest',
    })
    const tab = await visit()
    await signIn(tab, server, `/default?q=${scene.pipeline}`)
    const { page } = tab
    const list = page.getByRole('list', { name: 'Pipelines' })
    await list.getByRole('link', { name: /#2/ }).waitFor()
    expect(
      await list.locator('a, button').evaluateAll((all) => all.filter((each) => each.tabIndex === 0).length),
    ).toBe(1)
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('ArrowDown')
    expect((await describeFocus(page)).name).toMatch(/^Scene/)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${server.url}/default/${scene.pipeline}`)
    await page.getByRole('list', { name: 'Builds' }).getByText('Newest').waitFor()
    await page.getByRole('heading', { level: 1 }).focus()
    for (const name of ['Newest', 'A change', 'A change']) {
      await page.keyboard.press('ArrowDown')
      expect(await describeFocus(page)).toEqual({ name, isVisible: expect.any(Boolean) })
    }
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${server.url}/default/${scene.pipeline}/builds/2`)
    expect(tab.complaints).toEqual([])
  })

  it('is in the first field of a dialog, and on the button that changes nothing where there is none', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: One, command: make }]' })
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, `/default/${scene.pipeline}`)
    await page.getByRole('button', { name: 'New build' }).click()
    await page.getByRole('dialog').getByLabel('Message').and(page.locator(':focus')).waitFor()
    await page.goto(server.url + scene.page)
    await page.getByRole('button', { name: 'Cancel' }).first().click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: 'Keep it running' })
      .and(page.locator(':focus'))
      .waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('never loses the focus: not after dialogs, deleted rows and navigations', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const cluster = String((await server.post(`${api}/clusters`, { name: 'Machines' }, admin)).body['id'])
    for (const key of ['ONE', 'TWO', 'THREE'])
      await server.post(`${api}/clusters/${cluster}/secrets`, { key, value: 'correct horse' }, admin)
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/clusters/${cluster}/secrets`)
    const { press } = keyboard(page)
    const focused = async (name: string) => {
      await expect.poll(async () => (await describeFocus(page)).name).toBe(name)
    }
    await press('New secret')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await focused('New secret')

    // A dialog that a menu has opened goes back to the button of the menu; the row after a deleted one is next, and the last
    // one leaves the heading.
    await page
      .getByRole('button', { name: /^More about / })
      .nth(2)
      .waitFor()
    const order = await page
      .getByRole('button', { name: /^More about / })
      .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label') ?? ''))
    const [one = '', two = '', three = ''] = order
    await press(two)
    await press('Delete…', page.getByRole('menu'))
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await focused(two)
    for (const [row, next] of [
      [two, three],
      [three, one],
      [one, 'Secrets'],
    ] as const) {
      await press(row)
      await press('Delete…', page.getByRole('menu'))
      await press('Delete this secret')
      await focused(next)
    }

    const isOnHeading = async (name: string) => {
      await page
        .locator('h1:focus')
        .and(page.getByRole('heading', { name, exact: true }))
        .waitFor()
    }
    await isOnHeading('Secrets')
    await press('Maintainers', page.getByRole('navigation', { name: 'Contents of' }))
    await isOnHeading('Maintainers')
    await press('Agents', page.getByRole('navigation', { name: 'Pages of the organization' }))
    await isOnHeading('Agents')
    await page.goBack()
    await isOnHeading('Maintainers')
    expect(tab.complaints).toEqual([])
  })
})
