import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { eventually, theServer } from '../millrace.ts'
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

  it('walks tests, their runs, triggers and found rows in the same way', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const suite = await server.post(`${api}/suites`, { name: 'Basket', default_branch: 'main' }, admin)
    for (const [key, result] of ['passed', 'failed'].entries())
      await fetch(`${url}/v1/uploads`, {
        method: 'POST',
        headers: {
          Authorization: `Token token="${String(suite.body['api_token'])}"`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({
          format: 'json',
          run_env: { key: `run ${key}`, branch: 'main', commit_sha: `${key}` },
          data: ['adds', 'takes'].map((name, index) => ({
            scope: 'Basket',
            name,
            result,
            history: { start_at: 0, duration: 2 - index },
          })),
        }),
      })
    const tests = `${api}/suites/basket/tests`
    await eventually('the tests are known', async () => {
      const { body } = await server.get(tests, admin)
      return Object.keys(body).length === 2
    })
    const cluster = await server.post(`${api}/clusters`, { name: 'Machines' }, admin)
    const pipeline = { name: 'App', repository: 'https://git.example.com/a.git', configuration: 'steps: []' }
    await server.post(`${api}/pipelines`, { ...pipeline, cluster_id: cluster.body['id'] }, admin)
    for (const name of ['One', 'Two'])
      await server.post(`${api}/pipelines/app/triggers`, { name, signature: 'none' }, admin)
    const tab = await visit()
    const { page } = tab
    const suites = `/organizations/${slug}/analytics/suites`
    await signIn(tab, { url, token: admin }, suites)
    const focused = async (name: string | RegExp) => {
      await expect.poll(async () => (await describeFocus(page)).name).toMatch(name)
    }
    const heading = () => page.getByRole('heading', { level: 1 }).focus()
    const stops = () =>
      page
        .locator('main [data-list-row]')
        .evaluateAll((rows) =>
          rows.map(
            (row) =>
              [...row.querySelectorAll<HTMLElement>('a, button')].filter(({ tabIndex }) => tabIndex === 0)
                .length,
          ),
        )

    await page.getByRole('table', { name: 'Test suites' }).waitFor()
    await heading()
    await page.keyboard.press('ArrowDown')
    await focused('Basket')
    await page.keyboard.press('Enter')
    await page.getByRole('table', { name: 'Slowest' }).waitFor()
    await heading()
    await page.keyboard.press('ArrowDown')
    await focused('Basket › adds')
    await page.keyboard.press('ArrowDown')
    await focused('Basket › takes')
    expect(await stops()).toEqual([1, 1])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Basket › takes' }).waitFor()
    await page
      .getByRole('navigation', { name: 'Breadcrumb' })
      .getByText('Basket › takes', { exact: true })
      .waitFor()
    await page.keyboard.press('Tab')
    await focused('Mute…')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByLabel('Reason').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await focused('Mute…')

    await page.goto(`${url}/${slug}/app/settings/triggers`)
    await page.getByRole('list', { name: 'Triggers' }).getByText('Two', { exact: true }).waitFor()
    expect(await stops()).toEqual([1, 1])
    await heading()
    await page.keyboard.press('ArrowDown')
    await focused(/address of/)
    const first = (await describeFocus(page)).name
    for (const name of [/^Try/, /^Deliveries of/, /^More about/]) {
      await page.keyboard.press('ArrowRight')
      await focused(name)
    }
    await page.keyboard.press('ArrowDown')
    await focused(/address of/)
    expect((await describeFocus(page)).name).not.toBe(first)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByLabel('Payload').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await focused(/^Try/)
    expect(tab.complaints).toEqual([])
  })

  it('walks the rows that a search of all logs has found', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: One, command: make }]' })
    const run = await scene.begin()
    const text = scene.pipeline.replace('scene-', 'needle')
    await run.write(`${text} first\r\n${text} second\r\n`)
    await run.finish(0)
    const tab = await visit()
    const { page } = tab
    await signIn(
      tab,
      server,
      `/organizations/default/log-search?q=${text}&in=logs&pipeline=${scene.pipeline}`,
    )
    await page.getByRole('link', { name: `${text} second` }).waitFor()
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect((await describeFocus(page)).name).toMatch('second')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`${scene.page}#${run.id}/L\\d+$`))
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
