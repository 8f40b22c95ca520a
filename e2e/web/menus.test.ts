import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'

const buttonName = 'You and the settings of this browser'
const entry = (page: Page, name: string) => page.getByRole('menuitem', { name })
const focusedEntry = (page: Page, name: string) =>
  page.locator('[role=menuitem]:focus', { hasText: name }).waitFor()

withBrowser.describe('a menu', () => {
  it('is opened, walked and closed with keys, and gives the focus back', async () => {
    const server = theServer()
    const tab = await visit()
    await signIn(tab, server, '/default')
    const { page } = tab
    const button = page.getByRole('button', { name: buttonName })
    await button.focus()
    await page.keyboard.press('Enter')
    await focusedEntry(page, 'Administrator')
    await page.keyboard.press('ArrowDown')
    await focusedEntry(page, 'Access tokens')
    expect(await button.getAttribute('aria-expanded')).toBe('true')
    await page.keyboard.press('Escape')
    await expect.poll(() => button.evaluate((each) => each === document.activeElement)).toBe(true)
    expect(await page.getByRole('menu').count()).toBe(0)
    await page.keyboard.press('ArrowUp')
    await focusedEntry(page, 'Sign out')
    await page.keyboard.press('Home')
    await focusedEntry(page, 'Administrator')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${server.url}/-/me/tokens`)
    expect(tab.complaints).toEqual([])
  })

  it('is opened and closed by its button, and closed by a click elsewhere', async () => {
    const server = theServer()
    const tab = await visit()
    await signIn(tab, server, '/default')
    const { page } = tab
    const button = page.getByRole('button', { name: buttonName })
    await button.click()
    await entry(page, 'Sessions').waitFor()
    await button.click()
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await button.click()
    await page.getByRole('menu', { name: buttonName }).waitFor()
    await page.mouse.click(400, 600)
    await page.getByRole('menu').waitFor({ state: 'detached' })
    expect(tab.complaints).toEqual([])
  })

  it('says so when it cannot be loaded, and opens once it can', async () => {
    const server = theServer()
    const tab = await visit()
    await tab.page.route('**/assets/MenuList-*.js', (route) => route.abort())
    await signIn(tab, server, '/default')
    const { page } = tab
    await page.getByRole('list', { name: 'Pipelines' }).waitFor()
    await page.getByRole('button', { name: buttonName }).click()
    await page.getByText('The menu could not be loaded').waitFor()
    await page.unroute('**/assets/MenuList-*.js')
    await page.reload()
    await page.getByRole('button', { name: buttonName }).click()
    await entry(page, 'Sessions').waitFor()
    expect(tab.complaints.filter((text) => !text.includes('net::ERR_FAILED'))).toEqual([])
  })
})
