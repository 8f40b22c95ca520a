// How somebody uses a page.
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
