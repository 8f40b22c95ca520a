import type { Locator } from 'playwright-core'
import { expect, it } from 'vitest'
import { eventually, theServer, type Json } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

const api = '/v2/organizations/default'

/** Where the bar ends, and its lines at 80 % and 100 %. */
const edgesOf = (row: Locator) =>
  row.locator('svg[preserveAspectRatio] > *').evaluateAll((parts) => {
    const [, spent, near, whole] = parts.map((part) => part.getBoundingClientRect())
    return { spent: spent?.right ?? 0, near: near?.left ?? 0, whole: whole?.left ?? 0 }
  })

withBrowser.describe('budgets', () => {
  it('are made, changed and deleted on the page Insight, and their bars pass the lines', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    expect((await server.put(scene.queueApi, { price_per_minute: 1_000_000 })).status).toBe(200)
    const run = await scene.begin()
    await run.finish()
    const { body: pipeline } = await server.get(`${api}/pipelines/${scene.pipeline}`)
    const find = async (): Promise<Json | undefined> =>
      Object.values((await server.get(`${api}/budgets?per_page=100`)).body).find(
        (budget) => String(budget['pipeline']?.['id']) === String(pipeline['id']),
      )
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, '/organizations/default/insights')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'New budget' }).click()
    const kind = dialog.getByLabel('For', { exact: true })
    await kind.waitFor()
    expect(await kind.evaluate((element) => element === document.activeElement)).toBe(true)
    await dialog.getByLabel('Pipeline').fill('No such pipeline')
    await dialog.getByLabel('Amount in a month').fill('0')
    await dialog.getByRole('button', { name: 'Create budget' }).click()
    await dialog.getByText('No pipeline found').waitFor()
    await dialog.getByLabel('Pipeline').fill(String(pipeline['name']))
    await dialog.getByRole('button', { name: 'Create budget' }).click()
    await dialog.getByText(/amount.*0\.01/).waitFor()
    expect(tab.complaints.splice(0)).toEqual([expect.stringContaining('404'), expect.stringContaining('422')])
    await dialog.getByLabel('Amount in a month').fill('0.01')
    await dialog.getByRole('button', { name: 'Create budget' }).click()
    await dialog.waitFor({ state: 'hidden' })

    const row = page.getByRole('table', { name: 'Budgets' }).getByRole('row', {
      name: String(pipeline['name']),
    })
    await row.getByText('Spent', { exact: true }).waitFor()
    await page.setViewportSize({ width: 390, height: 300 })
    await page.evaluate(() => scrollTo(0, 0))
    await page.getByRole('link', { name: 'Budgets', exact: true }).click()
    const heading = page.getByRole('heading', { name: /^Budgets of/ })
    await expect.poll(() => heading.boundingBox().then((box) => box?.y)).toBeLessThan(250)
    await page.goto('about:blank')
    await page.goto(String((await find())?.['web_url']))
    await row.getByText('Spent', { exact: true }).waitFor()
    await expect.poll(() => heading.boundingBox().then((box) => box?.y)).toBeLessThan(250)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(`${server.url}/organizations/default/insights?group=step&pipeline=nothing&period=1h`)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('table', { name: 'Insights' }).waitFor()
    expect(new URL(page.url()).search).toBe('?group=step&period=1h')
    const far = await edgesOf(row)
    expect(far.spent).toBeGreaterThan(far.whole)
    await eventually('a notice is sent', async () => (await find())?.['last_notice'] !== null)
    const spent = Number((await find())?.['spent'])

    await row.getByRole('link', { name: String(pipeline['name']) }).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Change…' }).click()
    await dialog.getByLabel('Amount in a month').fill(String(spent / 0.9))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row.getByText('80 % or more').waitFor()
    const near = await edgesOf(row)
    expect(near.spent).toBeGreaterThan(near.near)
    expect(near.spent).toBeLessThan(near.whole)
    await row.getByText(/^100 %,/).waitFor()

    await row.getByRole('button', { name: /^More about/ }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await dialog.getByText('No notice comes').waitFor()
    expect(await find()).toBeDefined()
    await dialog.getByRole('button', { name: 'Delete this budget' }).click()
    await row.waitFor({ state: 'detached' })
    expect(await find()).toBeUndefined()
    expect(tab.complaints).toEqual([])
  })
})
