import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { theServer } from '../millrace.ts'
import { signIn, submitToken, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

/** Its code is loaded when it first opens. */
async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.locator('[role=combobox]:focus').waitFor()
}

/** The entry that Enter chooses. */
const selected = (page: Page, text: string) =>
  page.locator('[role=option][data-active-item]', { hasText: text })

withBrowser.describe('the shell', () => {
  it('sends strangers to the sign-in, and leads back to the address with its fragment', async () => {
    const server = theServer()
    const tab = await visit()
    await tab.page.goto(`${server.url}/default/demo?state=failed#anchor`)
    await tab.page.waitForURL(/\/sign-in/)
    await submitToken(tab.page, server.token)
    await tab.page.waitForURL(`${server.url}/default/demo?state=failed#anchor`)
    await tab.page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor()
    expect(tab.complaints.filter((text) => !text.includes('401'))).toEqual([])
  })

  it('leads from / to the pipelines of the organization', async () => {
    const server = theServer()
    const tab = await visit()
    await signIn(tab, server)
    await tab.page.waitForURL(`${server.url}/default`)
    await tab.page.getByRole('link', { name: 'Demo' }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('finds pages by the palette, with the keyboard alone', async () => {
    const server = theServer()
    const tab = await visit()
    await signIn(tab, server, '/default')
    await tab.page.getByRole('link', { name: 'Demo' }).waitFor()
    await openPalette(tab.page)
    await tab.page.keyboard.type('my builds')
    await selected(tab.page, 'My builds').waitFor()
    await tab.page.keyboard.press('Enter')
    await tab.page.waitForURL(/\/organizations\/default\/builds\?creator=me/)
    await tab.page.waitForFunction(() => document.title === 'My builds · Millrace')
    expect(tab.complaints).toEqual([])
  })

  it('finds pipelines and builds by the palette', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const tab = await visit()
    await signIn(tab, server, '/default')
    await tab.page.getByRole('link', { name: 'Demo' }).waitFor()
    await openPalette(tab.page)
    await tab.page.keyboard.type(scene.pipeline)
    await selected(tab.page, scene.pipeline).waitFor()
    await tab.page.keyboard.press('Enter')
    await tab.page.waitForURL(`${server.url}/default/${scene.pipeline}`)
    await tab.page.getByRole('heading', { level: 1, name: /^Scene/ }).waitFor()
    await openPalette(tab.page)
    await tab.page.keyboard.type('#1')
    await selected(tab.page, `Build #1 of ${scene.pipeline}`).waitFor()
    await tab.page.keyboard.press('Enter')
    await tab.page.waitForURL(new RegExp(`/default/${scene.pipeline}/builds/1`))
    expect(tab.complaints).toEqual([])
  })
})
