import { expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { visit, withBrowser } from './browser.ts'
import { findProblems, looks } from './look.ts'

withBrowser.describe('the page of the API', () => {
  it.each(['light', 'dark', 'dark-narrow'] as const)('has our colours and no barrier: %s', async (look) => {
    const server = theServer()
    const { page, complaints } = await visit(looks[look])
    await page.goto(`${server.url}/docs`)
    await page.locator('.opblock-tag').first().click()
    const canvas = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(canvas).toBe(look === 'light' ? 'oklch(0.985 0.002 255)' : 'oklch(0.165 0.008 255)')
    expect(await findProblems(page)).toEqual([])
    await page.locator('.opblock-get .opblock-summary-control').first().click()
    await page.locator('.opblock.is-open .responses-table').first().waitFor()
    expect(await findProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    await page.locator('.modal-ux').waitFor()
    expect(await findProblems(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('has the theme that was chosen in the pages', async () => {
    const server = theServer()
    const { page } = await visit({ theme: 'light' })
    await page.addInitScript(() => localStorage.setItem('millrace.theme', 'dark'))
    await page.goto(`${server.url}/docs`)
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      'oklch(0.165 0.008 255)',
    )
  })
})
