// A real Chromium from npm, with its security as people have it.
import chromium from '@sparticuz/chromium'
import { chromium as playwright, type Browser, type BrowserContext, type Page } from 'playwright-core'

/** Why the browser cannot run here; npm has it for one platform. null: it can. */
export const lacksBrowser =
  process.platform === 'linux' && process.arch === 'x64'
    ? null
    : `The web is not measured in a browser, because npm has no Chromium for ${process.platform}-${process.arch}.`

/** The browser is unpacked into the folder. */
export async function launchBrowser(folder: string): Promise<Browser> {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  try {
    chromium.setGraphicsMode = false
    return await playwright.launch({
      executablePath: await chromium.executablePath(),
      // Root may not use the sandbox; small hosts have no shared memory.
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking'],
      headless: true,
    })
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

export interface Visitor {
  address: string
  context: BrowserContext
}

/** A visitor who signed in with an access token. */
export async function signIn(browser: Browser, address: string, token: string): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  await page.goto(`${address}/sign-in?next=%2F-%2Fme`)
  await page.getByText('Use an access token').click()
  await page.getByLabel('Access token').fill(token)
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'))
  await page.close()
  return { address, context }
}

/** Opens a path in a new tab, and closes the tab after the use of it. */
export async function inTab<T>(
  { address, context }: Visitor,
  path: string,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const page = await context.newPage()
  try {
    await page.goto(address + path, { waitUntil: 'commit' })
    return await use(page)
  } finally {
    await page.close()
  }
}

/** The milliseconds from the start of the navigation until the function first returns them. */
export async function untilShown<T>(
  page: Page,
  check: (given: T) => number | false,
  given: T,
): Promise<number> {
  const handle = await page.waitForFunction<number | false, unknown>(
    check as (given: unknown) => number | false,
    given,
  )
  return Number(await handle.jsonValue())
}
