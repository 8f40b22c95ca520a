// How somebody uses a page: with a mouse, or with the keyboard alone. A journey is written once for both.
import { expect } from 'vitest'
import type { Locator, Page } from 'playwright-core'

export interface Hands {
  /** A button, a link or an entry of a menu. */
  press(name: string | RegExp, within?: Locator): Promise<void>
  fill(label: string, text: string, within?: Locator): Promise<void>
  choose(label: string, option: string, within?: Locator): Promise<void>
  check(label: string, within?: Locator): Promise<void>
}

/** What is open above the page hides the rest from those who press and type. */
async function placeOf(page: Page): Promise<Locator> {
  const dialog = page.getByRole('dialog')
  return (await dialog.count()) > 0 ? dialog.last() : page.locator('body')
}

const controlIn = (place: Locator, name: string | RegExp) =>
  place
    .getByRole('button', { name })
    .or(place.getByRole('link', { name }))
    .or(place.getByRole('menuitem', { name }))
    .filter({ visible: true })
    .first()

export const mouse = (page: Page): Hands => ({
  press: async (name, within) => controlIn(within ?? (await placeOf(page)), name).click(),
  fill: async (label, text, within) =>
    (within ?? (await placeOf(page))).getByLabel(label, { exact: true }).fill(text),
  async choose(label, option, within) {
    await (within ?? (await placeOf(page))).getByLabel(label, { exact: true }).selectOption(option)
  },
  check: async (label, within) =>
    (within ?? (await placeOf(page))).getByLabel(label, { exact: true }).check(),
})

/** Presses keys only. Before each, the focus must be somewhere: nobody without a mouse can find it again. */
export function keyboard(page: Page): Hands {
  const isNowhere = () =>
    page.evaluate(() => document.activeElement === null || document.activeElement === document.body)
  const isAt = (target: Locator) =>
    target.evaluate((element) => element === document.activeElement).catch(() => false)

  /** Tab comes to each row of a list once. */
  const isInItsRow = (target: Locator) =>
    target
      .evaluate((element) => {
        const row = element.closest('[data-list-row]')
        return (
          row !== null && row.contains(document.activeElement) && element.getAttribute('tabindex') === '-1'
        )
      })
      .catch(() => false)

  async function tabTo(target: Locator): Promise<void> {
    await target.waitFor()
    await expect.poll(isNowhere).toBe(false)
    const isInMenu = (await target.getAttribute('role')) === 'menuitem'
    for (let presses = 0; presses < mostPresses; presses++) {
      if (await isAt(target)) return expectVisible(page)
      await page.keyboard.press(isInMenu ? 'ArrowDown' : (await isInItsRow(target)) ? 'ArrowRight' : 'Tab')
    }
    throw new Error(`The focus never came to ${String(target)}`)
  }
  return {
    async press(name, within) {
      await tabTo(controlIn(within ?? (await placeOf(page)), name))
      await page.keyboard.press('Enter')
    },
    async fill(label, text, within) {
      await tabTo((within ?? (await placeOf(page))).getByLabel(label, { exact: true }))
      await page.keyboard.press('Control+A')
      await page.keyboard.type(text)
    },
    async choose(label, option, within) {
      const field = (within ?? (await placeOf(page))).getByLabel(label, { exact: true })
      await tabTo(field)
      await page.keyboard.type(option)
      await expect.poll(() => field.locator('option:checked').innerText()).toBe(option)
    },
    async check(label, within) {
      await tabTo((within ?? (await placeOf(page))).getByLabel(label, { exact: true }))
      await page.keyboard.press('Space')
    },
  }
}

/** More stops than any page has. */
const mostPresses = 200

async function expectVisible(page: Page): Promise<void> {
  await expect
    .poll(() =>
      page.evaluate(() => {
        const element = document.activeElement
        if (element === null) return 'nothing has the focus'
        // The link of a row has its outline around the row, and a field with an icon around both.
        const framed = element.closest('.icon-input') ?? element
        const outlined = element.matches('.row-link') ? '::after' : null
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(framed, outlined)
        const hasOutline = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1
        return hasOutline || boxShadow !== 'none' ? 'visible' : `hidden: ${element.outerHTML.slice(0, 200)}`
      }),
    )
    .toBe('visible')
}
