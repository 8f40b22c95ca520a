import { expect, it } from 'vitest'
import { theServer, type Client } from '../millrace.ts'
import { signIn, visit, type VisitOptions, withBrowser } from './browser.ts'
import { readRows, rowAt, seeRow } from './log-page.ts'
import { aScene, rowsOf, type Run, type Scene } from './scene.ts'

const steps = 'steps: [{ label: Tests, command: make }]'
const at = (ms: number) => `\x1b_bk;t=${1_700_000_000_000 + ms}\x07`

async function aJob(server: Client): Promise<{ scene: Scene; run: Run }> {
  const scene = await aScene(server, { steps })
  return { scene, run: await scene.begin() }
}

async function open(server: Client, path: string, options: VisitOptions = {}) {
  const tab = await visit(options)
  await signIn(tab, server, path)
  return tab
}

/** High enough for all rows of these tests. */
const tall = { height: 3000 }

const numbered = (from: number, to: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: to - from + 1 }, (_, index) => [from + index, `row ${from + index}`]),
  )

withBrowser.describe('rows of a log', () => {
  it('opens the group of a linked row, centres the row and tints it', async () => {
    const server = theServer()
    const { scene, run } = await aJob(server)
    await run.write(`--- Closed\r\n${rowsOf(2, 400)}+++ Open\r\n${rowsOf(402, 800)}`)
    await run.finish(0)
    const { page, complaints } = await open(server, `${scene.page}#${run.id}/L200`)
    expect(await seeRow(page, 200)).toBeLessThan(60)
    const colour = (row: number) =>
      rowAt(page, row).evaluate((element) => getComputedStyle(element).backgroundColor)
    expect(await colour(200)).not.toBe(await colour(199))
    expect(complaints).toEqual([])
  })

  it('opens the group when the linked rows begin on its header', async () => {
    const server = theServer()
    const { scene, run } = await aJob(server)
    await run.write(`--- Closed\r\n${rowsOf(2, 60)}+++ Open\r\n${rowsOf(62, 80)}`)
    await run.finish(0)
    const { page, complaints } = await open(server, `${scene.page}#${run.id}/L1-L4`)
    for (const row of [1, 2, 4]) await seeRow(page, row)
    expect(await page.locator('[data-mark=selected]').count()).toBe(4)
    expect(complaints).toEqual([])
  })

  it('shows the first line of a running job, then what it adds, and no row twice', async () => {
    const server = theServer()
    const { scene, run } = await aJob(server)
    await run.write('row 1\r\n')
    const { page, complaints } = await open(server, `${scene.page}#${run.id}`, tall)
    await seeRow(page, 1)
    for (let from = 2; from <= 62; from += 10) await run.write(rowsOf(from, from + 9))
    await run.finish(0)
    await page.getByText('row 71', { exact: true }).waitFor()
    await expect.poll(() => readRows(page)).toEqual(numbered(1, 71))
    expect(complaints).toEqual([])
  })

  it('shows times in four forms, and how long each group took', async () => {
    const server = theServer()
    const { scene, run } = await aJob(server)
    await run.write(
      `${at(0)}+++ First\r\n${at(1000)}row 2\r\n${at(3500)}row 3\r\n${at(62_000)}+++ Second\r\n`,
    )
    await run.write(`${at(62_400)}row 5\r\n`)
    await run.finish(0)
    const { page, complaints } = await open(server, `${scene.page}#${run.id}`)
    await seeRow(page, 3)
    const third = rowAt(page, 3)
    await third.getByText('row 3', { exact: true }).waitFor()
    expect(await third.textContent()).toBe('3row 3')
    for (const time of ['22:13:23.500', '3.5s', '+2.5s']) {
      await page.keyboard.press('t')
      await third.getByText(time, { exact: true }).waitFor()
    }
    await page.keyboard.press('t')
    await third.getByText('+2.5s').waitFor({ state: 'detached' })
    expect(await third.textContent()).toBe('3row 3')
    await page.getByRole('button', { name: /^First 1m 02s/ }).waitFor()
    expect(complaints).toEqual([])
  })
})
