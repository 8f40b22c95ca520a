// What the page of a build says of its state, its people and its jobs.
import type { Locator } from 'playwright-core'
import { expect, it } from 'vitest'
import { eventually, theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { aScene, rowsOf } from './scene.ts'

/** What is seen of a bar beside its colour and its height. */
const shapeOf = (bar: Locator): Promise<string> =>
  bar.evaluate((element) => {
    const { clipPath, backgroundImage, backgroundColor, boxShadow } = getComputedStyle(element)
    const withoutColours = `${backgroundImage} ${boxShadow}`.replaceAll(/(?:oklch|rgba?|color)\([^)]*\)/g, '')
    return `${clipPath} ${withoutColours} ${backgroundColor === 'rgba(0, 0, 0, 0)' ? 'hollow' : 'filled'}`
  })

withBrowser.describe('a build', () => {
  it('says beside Blocked that it has failed, in its header, in lists and in the tab', async () => {
    const server = theServer()
    const scene = await aScene(server, {
      steps: `steps:
  - { label: Tests, command: make }
  - block: Ship it?
    depends_on: ~
    prompt: "The release goes to **everybody**, see [the plan](https://example.com/plan)."
`,
    })
    const run = await scene.begin()
    await run.write(`${rowsOf(1, 20)}\x1b[31mError: the disk is full\x1b[0m\r\n`)
    await run.finish(1)
    await eventually('the build is blocked', async () => (await server.get(scene.api)).body['blocked'])
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, `${scene.page}?view=summary`)
    await page.getByRole('main').locator('header').first().getByText('so far failed').waitFor()
    await page.waitForFunction(() => document.title.startsWith('✗ #1'))
    await page.getByRole('list', { name: 'Jobs' }).getByText('Error: the disk is full').waitFor()
    await page.getByRole('button', { name: 'Unblock…' }).click()
    await page.getByRole('strong').filter({ hasText: 'everybody' }).waitFor()
    expect(await page.getByRole('link', { name: 'the plan' }).getAttribute('href')).toBe(
      'https://example.com/plan',
    )
    await page.goto(`${server.url}/default/${scene.pipeline}`)
    await page.getByRole('list', { name: 'Builds' }).getByText('so far failed').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows its state without colour too, as a badge and as a bar', async () => {
    const server = theServer()
    const scene = await aScene(server, {
      steps: `steps:
  - { label: Tests, command: make }
  - { block: Ship it?, if: 'build.message == "Blocked"' }
`,
    })
    const builds = scene.api.replace(/\/\d+$/, '')
    const next = async (message: string) => {
      const { body } = await server.post(builds, { commit: 'HEAD', branch: 'main', message })
      return `${builds}/${String(body['number'])}`
    }
    await (await scene.begin()).finish(0)
    await next('Failed')
    await (await scene.begin()).finish(1)
    await server.put(`${await next('Canceled')}/cancel`, {})
    const blocked = await next('Blocked')
    await (await scene.begin()).finish(0)
    await next('Passed again')
    await (await scene.begin()).finish(0)
    await next('Running')
    await scene.begin()
    await eventually('one is blocked', async () => (await server.get(blocked)).body['blocked'])
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, `/default/${scene.pipeline}`)
    const bars = page.getByRole('group', { name: 'Last builds' })
    await bars.getByRole('link', { name: '#6 Running' }).waitFor()
    const rows = page.getByRole('list', { name: 'Builds' }).getByRole('listitem')
    const looks: Record<'badges' | 'bars', string[]> = { badges: [], bars: [] }
    // The first and the fifth have passed, so they look the same.
    for (const number of [1, 5, 2, 3, 4, 6]) {
      const row = rows.filter({ hasText: `#${number}` })
      looks.badges.push((await row.locator('svg use').first().getAttribute('href')) ?? '')
      looks.bars.push(
        await shapeOf(bars.getByRole('link', { name: new RegExp(`^#${number} `) }).locator('span')),
      )
    }
    for (const [name, [first, fifth, ...others]] of Object.entries(looks)) {
      expect([name, fifth]).toEqual([name, first])
      expect([name, new Set([first, ...others]).size]).toEqual([name, 5])
    }
    expect(tab.complaints).toEqual([])
  })

  it('names who wrote the change before who made the build', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    await server.post(scene.api.replace(/\/\d+$/, ''), {
      commit: 'HEAD',
      branch: 'main',
      message: 'By somebody else',
      author: { name: 'Grace Hopper', email: 'grace@example.com' },
    })
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, `/default/${scene.pipeline}`)
    await page.getByRole('list', { name: 'Builds' }).getByText('Grace Hopper').waitFor()
    await page.getByRole('link', { name: 'By somebody else' }).click()
    await page.waitForURL(/builds\/2$/)
    await page.getByRole('main').locator('header').first().getByText('Grace Hopper').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('marks one part of a job and one view as the present one', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const run = await scene.begin()
    await run.finish(0)
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, `${scene.page}?view=graph&tab=environment&panel=timeline#${run.id}`)
    for (const [name, text] of [
      ['Parts of the job', 'Timeline'],
      ['Views of the build', 'Environment'],
    ] as const) {
      const current = page.getByRole('navigation', { name }).locator('[aria-current]')
      await current.first().waitFor()
      expect(await current.allInnerTexts()).toEqual([text])
    }
    expect(tab.complaints).toEqual([])
  })

  it('has a row in the table for each attempt of a job, which the keyboard opens', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const first = await scene.begin()
    await first.write('it broke\r\n')
    await first.finish(1)
    await server.put(`${scene.api}/jobs/${first.id}/retry`, {})
    const second = await scene.begin()
    await second.finish(0)
    const tab = await visit({ width: 390, height: 844 })
    const { page } = tab
    await signIn(tab, server, `${scene.page}?view=table`)
    const jobs = page.getByRole('table', { name: 'Jobs' })
    await jobs.getByRole('row', { name: /Passed.*Tests, attempt 2 of 2/ }).waitFor()
    await jobs.getByRole('row', { name: /Failed.*Tests, attempt 1 of 2/ }).waitFor()
    for (const text of ['attempt 1', 'attempt 2']) {
      expect(await jobs.getByText(text).isVisible()).toBe(true)
    }
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**#${first.id}`)
    await page.getByText('it broke').first().waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('shows in the waterfall what ran, and folds the time in which nothing did', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const run = await scene.begin()
    await run.finish(0)
    await eventually(
      'the build has passed',
      async () => String((await server.get(scene.api)).body['state']) === 'passed',
    )
    const tab = await visit()
    const { page } = tab
    // The job waited for an hour, and then ran for a second.
    await page.route('**/graph', async (route) => {
      const answer = await route.fetch()
      const graph = (await answer.json()) as { jobs: Array<Array<string | number | null>> }
      for (const job of graph.jobs) {
        for (const at of [6, 7]) job[at] = Number(job[at]) - 3_600_000
        job[9] = Number(job[8]) + 1000
      }
      await route.fulfill({ response: answer, json: graph })
    })
    await signIn(tab, server, `${scene.page}?view=waterfall`)
    await page.getByText(/^no job ran: 1h/).waitFor()
    const widths = await page
      .locator('[data-span=running]')
      .last()
      .evaluate((bar) => bar.getBoundingClientRect().width)
    expect(widths).toBeGreaterThan(20)
    expect(tab.complaints).toEqual([])
  })
})
