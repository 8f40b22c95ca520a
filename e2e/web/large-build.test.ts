// A build of as many jobs as a build may have.
import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { eventually, theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

const steps = `steps:
${['One', 'Two', 'Three', 'Four'].map((label) => `  - { label: "${label} %n", command: make, parallelism: 1000 }`).join('\n')}
`

/** Where each view shows jobs or steps, and what is marked after a click on one. */
const views = {
  summary: '[role=listitem] a[href^="#"]',
  graph: '[data-step]:not([data-kind=wait])',
  table: '[role=row] a[href^="#"]',
  waterfall: 'main li a[href^="#"]',
}

withBrowser.describe('a build of 4,000 jobs', () => {
  it('is shown in all four views, with few of its jobs in the document, and can be used in each', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps })
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, '/default')
    for (const [view, rows] of Object.entries(views)) {
      await page.goto(`${server.url}${scene.page}?view=${view}`)
      const row = page.locator(rows).filter({ visible: true }).nth(1)
      await row.click()
      await page.locator('[aria-current]:is(a[href^="#"]), [data-selected]').first().waitFor()
      expect([view, (await page.locator(rows).count()) < 300]).toEqual([view, true])
    }
    expect(tab.complaints).toEqual([])
  })

  it('shows the changes of all of them without a reload', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps })
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, `${scene.page}?view=table`)
    const shows = (count: string) => page.getByRole('status').getByText(count, { exact: true }).waitFor()
    const loadedAt = await page.evaluate(() => performance.timeOrigin)
    await shows('4,000 jobs')
    await filter(page, 'queued')
    await shows('4,000 jobs')
    await server.put(`${scene.api}/cancel`, {})
    await shows('0 of 4,000 jobs')
    await filter(page, 'canceled')
    await shows('4,000 jobs')
    await page.getByRole('main').locator('header').first().getByText('Canceled', { exact: true }).waitFor()
    expect(await page.evaluate(() => performance.timeOrigin)).toBe(loadedAt)
    await eventually('the server says the same', async () => {
      const { body } = await server.get(`${scene.api}?exclude_jobs=true`)
      return String(body['state']) === 'canceled'
    })
    expect(tab.complaints).toEqual([])
  })
})

const filter = (page: Page, text: string) =>
  page.getByLabel('Filter jobs by name, state, agent or reason').fill(text)
