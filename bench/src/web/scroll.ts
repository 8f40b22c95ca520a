import type { Browser, Page } from 'playwright-core'
import { row, type Report } from '../harness/report.ts'

export interface Scrolled {
  fps: number
  longestMs: number
}

const seconds = 2

/** Scrolls what contains the elements for some seconds, a little in every frame, and counts the frames. */
export async function scrollRate(page: Page, selector: string): Promise<Scrolled> {
  // The job groups of the summary are folded; all of them are to be scrolled over.
  for (const folded of await page.locator('[role=listitem] button[aria-expanded=false]').all())
    await folded.click()
  return page.evaluate(
    async ({ selector, seconds }) => {
      const canScroll = (element: Element) =>
        /auto|scroll/.test(getComputedStyle(element).overflowY) &&
        Math.max(element.scrollHeight - element.clientHeight, element.scrollWidth - element.clientWidth) > 100
      let scroller = document.querySelector(selector)?.parentElement ?? null
      while (scroller !== null && !canScroll(scroller)) scroller = scroller.parentElement
      if (scroller === null) throw new Error(`Nothing scrolls around ${selector}.`)
      const nextFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve))
      const step = 60
      const start = await nextFrame()
      let [frames, last, longestMs] = [0, start, 0]
      while (last - start < seconds * 1000) {
        scroller.scrollTop += step
        scroller.scrollLeft += step
        const at = await nextFrame()
        longestMs = Math.max(longestMs, at - last)
        last = at
        frames++
      }
      return { fps: (frames / (last - start)) * 1000, longestMs }
    },
    { selector, seconds },
  )
}

/** The yardstick: how fast this browser scrolls plain rows on this machine now. */
export async function plainScrollRate(browser: Browser): Promise<Report['rows'][number]> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.setContent(
    `<ul style="height: 800px; overflow: auto">${'<li>Package 1 Passed 30 s</li>'.repeat(4000)}</ul>`,
  )
  const { fps, longestMs } = await scrollRate(page, 'li')
  await page.close()
  return row(
    'yardstick: scrolling plain rows',
    `${fps.toFixed(0)} fps`,
    `longest frame ${Math.round(longestMs)} ms`,
  )
}
