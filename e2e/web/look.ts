// What is looked for on every page and in every dialog, and the pictures of `npm run screenshots -- FOLDER`.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { findBarriers } from './axe.ts'
import type { VisitOptions } from './browser.ts'

const folder = process.env['SCREENSHOTS']
const isForPictures = folder !== undefined

const narrow = { width: 390, height: 844, isTouch: true }

export const looks = {
  light: { theme: 'light' },
  dark: { theme: 'dark' },
  narrow: { theme: 'light', ...narrow },
  'dark-narrow': { theme: 'dark', ...narrow },
} as const satisfies Record<string, VisitOptions>

export type Look = keyof typeof looks
const allLooks = Object.keys(looks) as Look[]

const words = (process.env['SCREENSHOTS_OF'] ?? '').split(' ').filter(Boolean)
const starts = words.filter((word) => !allLooks.some((look) => look === word))
const wantedLooks = allLooks.filter((look) => words.includes(look))

/** All are, unless pictures of some were asked for. */
export const isWanted = (name: string): boolean =>
  starts.length === 0 || starts.some((start) => name.startsWith(start))

/** For pictures all of them, or those that were asked for; else the given ones. */
export const looksFor = (usual: readonly Look[]): readonly Look[] =>
  !isForPictures ? usual : wantedLooks.length > 0 ? wantedLooks : allLooks

export async function write(page: Page, name: string): Promise<void> {
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

/** Nothing serious for axe, nothing scrolls sideways, no name of an emoji where a text is shown. */
export async function findProblems(page: Page): Promise<string[]> {
  return [
    ...(await findBarriers(page)),
    ...((await scrollsSideways(page)) ? ['scrolls sideways'] : []),
    ...(await findSidewaysParts(page)),
    ...(await findRawNames(page)),
  ]
}

/** Forms and sources show what was typed. */
const findRawNames = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const isRaw = (text: string | null) => /:jest:|%[nt]\b|\{\{\s*matrix/i.test(text ?? '')
    const texts: string[] = [document.title]
    for (const element of document.querySelectorAll(
      'body *:not(script, style, textarea, pre, pre *, code, .cm-editor *)',
    )) {
      const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
      texts.push(...own.map((node) => node.textContent ?? ''))
      for (const name of ['title', 'aria-label', 'alt', 'placeholder'])
        texts.push(element.getAttribute(name) ?? '')
    }
    return texts.filter(isRaw).map((text) => `shows raw: ${text.slice(0, 160)}`)
  })

/**
 * On a phone, a part of a page scrolls sideways where its lines must not be broken: a log, sources in an editor, the waterfall and the
 * graph. A bar with links to pages does too.
 */
const findSidewaysParts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    if (innerWidth > 640) return []
    const mayScroll =
      '[aria-label^="Log of "], [aria-label^="Waterfall of "], [aria-label^="Graph of "], .cm-editor, nav'
    return [...document.querySelectorAll('body *')]
      .filter((element) => {
        const { overflowX } = getComputedStyle(element)
        return /auto|scroll/.test(overflowX) && element.scrollWidth > element.clientWidth + 1
      })
      .filter((element) => element.closest(mayScroll) === null)
      .map((element) => `a part scrolls sideways: ${element.outerHTML.slice(0, 160)}`)
  })

const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)
