// What a reader sees of a log.
import type { Locator, Page } from 'playwright-core'

/** The row of this number. */
export const rowAt = (page: Page, row: number): Locator => page.locator(`[data-row="${row}"]`).last()

/** Waits until a row is on screen, not only in the document. Returns how far its middle is from the middle of the log. */
export async function seeRow(page: Page, row: number): Promise<number> {
  const handle = await page.waitForFunction((number) => {
    const rows = [...document.querySelectorAll(`[data-row="${number}"]`)]
    const element = rows.at(-1)
    const log = element?.closest('[role=region]')?.getBoundingClientRect()
    const place = element?.getBoundingClientRect()
    if (log === undefined || place === undefined || place.top < log.top || place.bottom > log.bottom)
      return false
    return { off: Math.abs((place.top + place.bottom) / 2 - (log.top + log.bottom) / 2) }
  }, row)
  const seen = await handle.jsonValue()
  return seen === false ? Number.NaN : seen.off
}

/** The texts of the rows in the document, by their numbers. */
export const readRows = (page: Page): Promise<Record<string, string>> =>
  page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll<HTMLElement>('[data-row]')].map((row) => [
        row.dataset['row'] ?? '',
        row.querySelector('[data-text]')?.textContent ?? '',
      ]),
    ),
  )
