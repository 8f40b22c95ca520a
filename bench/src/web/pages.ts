// The list of a thousand pipelines, and a build of 4,000 jobs in its four views.
import type { Page } from 'playwright-core'
import { middle } from '../harness/load.ts'
import { row, type Report } from '../harness/report.ts'
import { jobCount, pipelineCount } from './fill.ts'
import { inTab, untilShown, type Visitor } from './browser.ts'
import { scrollRate, type Scrolled } from './scroll.ts'

const rounds = 3
const mostListMs = 1000
const mostBuildMs = 2000
const leastFps = 50

const ms = (value: number) => `${Math.round(value)} ms`

export async function pipelineList(visitor: Visitor, org: string): Promise<Omit<Report, 'name'>> {
  const times: Array<{ shown: number; filtered: number }> = []
  for (let round = 0; round < rounds; round++) times.push(await inTab(visitor, `/${org}`, openList))
  const shown = middle(times.map((time) => time.shown))
  const filtered = middle(times.map((time) => time.filtered))
  const what = `${pipelineCount} pipelines, visible and filterable`
  return {
    rows: [row(what, ms(filtered), `visible after ${ms(shown)}, median of ${rounds}`)],
    targets: [{ what, target: `≤ ${mostListMs} ms`, measured: ms(filtered), met: filtered <= mostListMs }],
  }
}

/** The list can be filtered when all names that contain "99" are shown, and no other. */
async function openList(page: Page) {
  // The organization also has the pipelines of the other measurements.
  const shown = await untilShown(
    page,
    (least) => {
      const size = document.querySelector('ul[aria-label=Pipelines] li')?.getAttribute('aria-setsize')
      return Number(size ?? 0) >= least && performance.now()
    },
    pipelineCount,
  )
  const names = Array.from({ length: pipelineCount }, (_, index) => `Service ${index + 1}`)
  await page.getByLabel('Filter by name').fill('99')
  const filtered = await untilShown(
    page,
    (count) =>
      document.querySelector(`ul[aria-label=Pipelines] li[aria-setsize="${count}"]`) !== null &&
      performance.now(),
    names.filter((name) => name.includes('99')).length,
  )
  return { shown, filtered }
}

const views = {
  summary: '[role=listitem] a[href^="#"]',
  graph: '[data-step]:not([data-kind=wait])',
  table: '[role=row] a[href^="#"]',
  waterfall: 'main li a[href^="#"]',
}

export async function buildViews(visitor: Visitor, build: string): Promise<Omit<Report, 'name'>> {
  const report: Omit<Report, 'name'> = { rows: [], targets: [] }
  for (const [view, selector] of Object.entries(views)) {
    const opened: Array<{ shown: number; interactive: number; scrolled: Scrolled }> = []
    for (let round = 0; round < rounds; round++) {
      opened.push(
        await inTab(visitor, `${build}?view=${view}`, async (page) => ({
          ...(await openView(page, selector)),
          scrolled: await scrollRate(page, selector),
        })),
      )
    }
    const interactive = middle(opened.map((each) => each.interactive))
    const fps = middle(opened.map(({ scrolled }) => scrolled.fps))
    const shown = middle(opened.map((each) => each.shown))
    const longest = middle(opened.map(({ scrolled }) => scrolled.longestMs))
    const what = `${jobCount} jobs, ${view}`
    report.rows.push(
      row(`${what}, interactive`, ms(interactive), `visible after ${ms(shown)}, median of ${rounds}`),
      row(`${what}, scrolling`, `${fps.toFixed(0)} fps`, `longest frame ${ms(longest)}`),
    )
    report.targets.push(
      {
        what: `${what}, interactive`,
        target: `≤ ${mostBuildMs} ms`,
        measured: ms(interactive),
        met: interactive <= mostBuildMs,
      },
      {
        what: `${what}, scrolling`,
        target: `≥ ${leastFps} fps`,
        measured: `${fps.toFixed(0)} fps`,
        met: fps >= leastFps,
      },
    )
  }
  return report
}

/** A view is interactive when a click on one of its rows has marked the row. */
async function openView(page: Page, selector: string) {
  const shown = await untilShown(
    page,
    (rows) => document.querySelectorAll(rows).length >= 8 && performance.now(),
    selector,
  )
  const clicked = await page.evaluate((rows) => {
    const isOnScreen = (element: Element) => {
      const { top, left, bottom, right } = element.getBoundingClientRect()
      return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth
    }
    const row = [...document.querySelectorAll<HTMLElement>(rows)].filter(
      (each) => isOnScreen(each) && !each.matches('[aria-current], [data-selected]'),
    )[1]
    row?.click()
    return row?.dataset['step'] ?? row?.getAttribute('href') ?? ''
  }, selector)
  const interactive = await untilShown(
    page,
    (name) => {
      const marked = [...document.querySelectorAll<HTMLElement>('[aria-current], [data-selected]')]
      const isMarked = marked.some(
        (each) => each.dataset['step'] === name || each.getAttribute('href') === name,
      )
      return isMarked && performance.now()
    },
    clicked,
  )
  return { shown, interactive }
}
