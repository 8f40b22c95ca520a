// Logs of real jobs in a real browser: where they open, what is found, copied and followed, and how far they scroll.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { aSharedDirectory, eventually, theServer, type Client } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { build, reach } from './world.ts'

const org = '/v2/organizations/default'

const pipelineOf = (commands: string) => `env: { BUILDKITE_SKIP_CHECKOUT: "true" }
steps:
  - label: "Talk"
    command: |
${commands
  .trim()
  .split('\n')
  .map((line) => `      ${line}`)
  .join('\n')}
`

const failing = pipelineOf(`
echo "--- Set up"
seq 1 200 | sed 's/^/preparing /'
echo "+++ Tests"
seq 1 300 | sed 's/^/ok /'
printf '\\033[31mAssertionError: expected 3 to be 4\\033[0m\\n'
echo "<img src=x onerror=document.title=1><script>document.title=1</script>"
printf '\\033]8;;javascript:document.title=1\\007click\\033]8;;\\007 https://example.com/a\\n'
printf 'x \\342\\200\\256 y\\n'
exit 1
`)

let names = 0

/** A build of these commands, and the address of its one job. */
async function aLog(server: Client, configuration: string, state: string | null) {
  const made = await build(server, `Log ${process.pid} ${++names}`, configuration, 'Talk')
  if (state !== null) await reach(server, made, state)
  const api = `${org}/pipelines/${made.pipeline}/builds/${made.number}`
  const job = String((await server.get(api)).body['jobs']?.['0']?.['id'])
  const page = `/default/${made.pipeline}/builds/${made.number}`
  return { api: `${api}/jobs/${job}`, job, page, at: (rows: string) => `${page}#${job}/${rows}` }
}

async function openLog(server: Client, path: string) {
  const tab = await visit()
  await signIn(tab, server, path)
  const log = tab.page.getByRole('region', { name: 'Log of Talk' })
  await log.locator('[data-row]').first().waitFor()
  return { ...tab, log }
}

const row = (log: Locator, number: number) => log.locator(`[data-row="${number}"]`).last()

/** The number of the row with exactly this text. */
async function rowOf(server: Client, api: string, text: string): Promise<number> {
  const { body } = await server.get(`${api}/log/search?q=${encodeURIComponent(`^${text}$`)}&regex=true`)
  return Number(body['matches']?.['0']?.['0'])
}

async function isOnScreen(log: Locator, element: Locator): Promise<boolean> {
  const [outer, inner] = [await log.boundingBox(), await element.boundingBox()]
  return (
    outer !== null && inner !== null && inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height
  )
}

/** The rows on screen as the reader sees them. */
const texts = (log: Locator): Promise<string[]> =>
  log.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect()
    return [...element.querySelectorAll('[data-row]')]
      .filter(
        (each) =>
          each.getBoundingClientRect().bottom > top + 1 && each.getBoundingClientRect().top < bottom - 1,
      )
      .map((each) => each.querySelector('[data-text]')?.textContent ?? '')
  })

const status = (page: Page, text: string | RegExp) =>
  page.locator('main').getByText(text, { exact: true }).first().waitFor()

withBrowser.describe('web: the log of a job', () => {
  it('opens at the failing row, and runs nothing that it contains', async () => {
    const server = theServer()
    const made = await aLog(server, failing, 'failed')
    const { page, log, complaints } = await openLog(server, made.page)
    const failed = log.locator('[data-mark=failing]')
    await failed.getByText('AssertionError: expected 3 to be 4').waitFor()
    expect(await isOnScreen(log, failed)).toBe(true)
    await log.getByText('<img src=x onerror=document.title=1>').waitFor()
    expect(await log.locator('img, script').count()).toBe(0)
    expect(
      await log.locator('a[target]').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ).toEqual(['https://example.com/a'])
    expect(await log.locator('[data-code="U+202E"]').count()).toBe(1)
    expect(await page.title()).not.toBe('1')
    expect(complaints).toEqual([])
  })

  it('opens the group of a linked row, centres and marks it, also after a reload', async () => {
    const server = theServer()
    const made = await aLog(server, failing, 'failed')
    const first = await rowOf(server, made.api, 'preparing 100')
    const { page, log, complaints } = await openLog(server, made.at(`L${first}-L${first + 4}`))
    for (const round of ['opened', 'reloaded']) {
      await row(log, first).getByText('preparing 100').waitFor()
      expect([round, await log.locator('[data-mark=selected]').count()]).toEqual([round, 5])
      expect(await isOnScreen(log, row(log, first))).toBe(true)
      await page.reload()
    }
    await row(log, first + 1)
      .getByRole('link')
      .click()
    await page.waitForURL((url) => url.hash === `#${made.job}/L${first + 1}`)
    await row(log, first + 3)
      .getByRole('link')
      .click({ modifiers: ['Shift'] })
    await page.waitForURL((url) => url.hash === `#${made.job}/L${first + 1}-L${first + 3}`)
    expect(complaints).toEqual([])
  })

  it('finds expressions in all rows, shows times, and copies the text alone', async () => {
    const server = theServer()
    const made = await aLog(server, failing, 'failed')
    const { page, context, log, complaints } = await openLog(server, made.page)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await log.focus()
    await page.keyboard.press('Control+f')
    await page.getByRole('button', { name: 'Regular expression' }).click()
    await page.getByLabel('Find in the log').fill('^preparing 1\\d\\d$')
    await page.getByText('/100', { exact: false }).waitFor()
    const first = await rowOf(server, made.api, 'preparing 100')
    const isShown = async (number: number) =>
      (await row(log, number).count()) > 0 && (await isOnScreen(log, row(log, number)))
    await expect.poll(() => isShown(first)).toBe(true)
    await log.focus()
    await page.keyboard.press('Shift+N')
    await page.getByText('100/100').waitFor()
    await expect.poll(() => isShown(first + 99)).toBe(true)
    expect(await isShown(first)).toBe(false)
    for (const match of ['1/100', '2/100']) {
      await page.keyboard.press('n')
      await page.getByText(match, { exact: true }).waitFor()
    }
    await expect.poll(() => isShown(first + 1)).toBe(true)

    for (const form of ['absolute', 'since start', 'delta', 'off']) {
      await page.keyboard.press('t')
      await page.getByRole('button', { name: `Times: ${form}` }).waitFor()
    }
    await page.keyboard.press('t')
    await log.evaluate((element, from) => {
      const selection = document.getSelection()
      selection?.removeAllRanges()
      const range = document.createRange()
      range.setStartBefore(element.querySelector(`[data-row="${from}"]`) ?? element)
      range.setEndAfter(element.querySelector(`[data-row="${from + 2}"]`) ?? element)
      selection?.addRange(range)
    }, first)
    await page.keyboard.press('Control+c')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'preparing 100\npreparing 101\npreparing 102',
    )
    expect(complaints).toEqual([])
  })

  it('follows a running job until the reader scrolls up, and misses no row', async () => {
    const server = theServer()
    const folder = aSharedDirectory()
    const wait = (name: string) =>
      `until [ -e ${join(folder, name)} ] || [ ! -d ${folder} ]; do sleep 0.05; done`
    const go = (name: string) => writeFileSync(join(folder, name), '')
    const made = await aLog(
      server,
      pipelineOf(`
echo first
${wait('bars')}
for i in 1 2 3 4 5; do printf '\\rloading %s' $$i; done; echo
printf 'a 0\\nb 0\\n\\033[2A\\033[Ka 9\\n\\033[Kb 9\\n'
${wait('rows')}
seq 1 500 | sed 's/^/row /'
${wait('more')}
seq 501 1000 | sed 's/^/row /'
${wait('last')}
seq 1001 1010 | sed 's/^/row /'
${wait('end')}
`),
      null,
    )
    const { page, log, complaints } = await openLog(server, `${made.page}#${made.job}`)
    await log.getByText('first', { exact: true }).waitFor()
    go('bars')
    await log.getByText('b 9', { exact: true }).waitFor()
    expect((await texts(log)).slice(-3)).toEqual(['loading 5', 'a 9', 'b 9'])
    go('rows')
    await log.getByText('row 500', { exact: true }).waitFor()
    await status(page, 'Following')

    await log.hover()
    await page.mouse.wheel(0, -400)
    await status(page, 'Not following')
    const before = await texts(log)
    go('more')
    await page.getByRole('button', { name: '500 new' }).waitFor()
    expect(await texts(log)).toEqual(before)
    await page.getByRole('button', { name: '500 new' }).click()
    await log.getByText('row 1000', { exact: true }).waitFor()
    await status(page, 'Following')
    go('last')
    await log.getByText('row 1010', { exact: true }).waitFor()
    go('end')
    await status(page, /\d kB/)
    const { body } = await server.get(
      `${made.api}/log/search?q=${encodeURIComponent('^row \\d+$')}&regex=true`,
    )
    expect(Number(body['total'])).toBe(1010)
    expect((await texts(log)).filter((text) => /^row \d+$/.test(text))).toContain('row 1010')
    expect(complaints).toEqual([])
  })

  it('reaches the last of half a million rows by key, wheel and thumb', async () => {
    const server = theServer()
    const made = await aLog(server, pipelineOf('seq 1 500000'), 'passed')
    // A search ends after ten seconds, which is enough for the first rows on any machine.
    const last = (await rowOf(server, made.api, '1')) + 499_999
    const { page, log, complaints } = await openLog(server, `${made.page}#${made.job}`)
    const isAtLast = () => row(log, last).getByText('500000', { exact: true }).waitFor()
    await isAtLast()
    await log.focus()
    await page.keyboard.press('Home')
    await row(log, 1).waitFor()
    await page.keyboard.press('End')
    await isAtLast()

    await log.hover()
    await page.mouse.wheel(0, -2000)
    const topOf = async () => Number((await texts(log)).at(-1))
    await eventually('the wheel moved the log by 100 rows', async () => (await topOf()) === 500_000 - 100)
    await page.mouse.wheel(0, 2000)
    await eventually('the wheel moved the log to its end', async () => (await topOf()) === 500_000)

    await log.evaluate((element) => (element.scrollTop = 0))
    await row(log, 1).waitFor()
    await log.evaluate((element) => (element.scrollTop = element.scrollHeight))
    await isAtLast()
    expect(complaints).toEqual([])
  })
})
