// A real Chromium from npm, with its security as people have it.
import chromium from '@sparticuz/chromium'
import { join } from 'node:path'
import { chromium as playwright, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { needing } from '../../testbed/src/needing.ts'
import type { Client } from '../millrace.ts'
import { oncePerRun } from '../once-per-run.ts'

/** Tests in the browser. npm has it for one platform. */
export const withBrowser = needing(
  'chromium',
  process.platform === 'linux' && process.arch === 'x64'
    ? null
    : `there is no Chromium on npm for ${process.platform}-${process.arch}`,
)

/** A name of this machine that browsers do not trust as they trust localhost, so plain http is no secure context there. */
export const plainHost = 'millrace.test'

/** Only what hangs reaches it. */
const limitMs = 300_000

let launched: Promise<Browser> | undefined

/** One browser for all files of a worker. It ends with the worker. */
async function launch(): Promise<Browser> {
  chromium.setGraphicsMode = false
  const folder = await oncePerRun('chromium', async (made) => {
    await withTemporaryFolder(made, () => chromium.executablePath())
  })
  // Its profile is there too.
  return withTemporaryFolder(folder, () =>
    playwright.launch({
      executablePath: join(folder, 'chromium'),
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
    }),
  )
}

async function withTemporaryFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  try {
    return await work()
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

interface Visit {
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
  userAgent?: string
}

/** A window of a new visitor, closed after the test. */
export async function visit(options: VisitOptions = {}): Promise<Visit> {
  const browser = await (launched ??= launch())
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.theme ?? 'light',
    hasTouch: options.isTouch ?? false,
    ...(options.userAgent === undefined ? {} : { userAgent: options.userAgent }),
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

/** Messages offer to undo for eight seconds, which may be too short for a slow machine. Call it before the page is opened. */
export const keepMessages = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const start = globalThis.setTimeout
    const longer = (work: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
      start(work, ms < 5000 ? ms : ms * 100, ...given)
    Object.assign(globalThis, { setTimeout: longer })
  })

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
