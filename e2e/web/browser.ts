// A real Chromium from npm, with its security as people have it.
import chromium from '@sparticuz/chromium'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { chromium as playwright, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { scratch } from '../../testbed/src/scratch.ts'
import type { Client } from '../millrace.ts'

/** Why the browser cannot run here; npm has it for one platform. null: it can. */
export const lacks =
  process.platform === 'linux' && process.arch === 'x64'
    ? null
    : `there is no Chromium on npm for ${process.platform}-${process.arch}`

/** The title of tests in the browser, with the reason where they are skipped. */
export const titled = (title: string): string => (lacks === null ? title : `${title} (skipped: ${lacks})`)

/** A name of this machine that browsers do not trust as they trust localhost, so plain http is no secure context there. */
export const plainHost = 'millrace.test'

/** Only what hangs reaches it. */
const limitMs = 300_000

let launched: Promise<Browser> | undefined

async function launch(): Promise<Browser> {
  // The browser is unpacked there, so the folder must not belong to another user or an earlier run.
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = mkdtempSync(join(scratch(), 'chromium-'))
  try {
    chromium.setGraphicsMode = false
    return await playwright.launch({
      executablePath: await chromium.executablePath(),
      // Root may not use the sandbox; small hosts have no shared memory.
      args: [
        '--no-sandbox',
        '--disable-dev-shm-usage',
        '--disable-gpu',
        '--disable-background-networking',
        `--host-resolver-rules=MAP ${plainHost} localhost`,
      ],
      headless: true,
      timeout: limitMs,
    })
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

export interface Visit {
  page: Page
  context: BrowserContext
  /** Errors on the console, exceptions, and violations of the policy. Every test ends with none but those it expects. */
  complaints: string[]
}

export interface VisitOptions {
  width?: number
  height?: number
  theme?: 'light' | 'dark'
  /** Fingers instead of a mouse. */
  isTouch?: boolean
}

/** A window of a new visitor, closed after the test. */
export async function visit(options: VisitOptions = {}): Promise<Visit> {
  const browser = await (launched ??= launch())
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.theme ?? 'light',
    hasTouch: options.isTouch ?? false,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  context.setDefaultTimeout(limitMs)
  onTestFinished(() => context.close())
  return { ...(await openTab(context)), context }
}

/** Another tab of the same visitor. */
export async function openTab(context: BrowserContext): Promise<Pick<Visit, 'page' | 'complaints'>> {
  const complaints: string[] = []
  const page = await context.newPage()
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      reportError(new Error(`Policy violated: ${violatedDirective} ${blockedURI}`)),
    )
  })
  return { page, complaints }
}

/** Signs in with an access token, and ends at `path`. */
export async function signIn(
  { page }: Pick<Visit, 'page'>,
  server: Pick<Client, 'url' | 'token'>,
  path = '/',
) {
  await page.goto(`${server.url}/sign-in?next=${encodeURIComponent(path)}`)
  await submitToken(page, server.token)
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'))
}

/** Fills in the form for access tokens on the sign-in page. */
export async function submitToken(page: Page, token: string): Promise<void> {
  await page.getByText('Use an access token').click()
  await page.getByLabel('Access token').fill(token)
  await page.keyboard.press('Enter')
}
