import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import { expect, it, onTestFinished, vi } from 'vitest'
import { aDirectory, theServer } from './millrace.ts'

it('renders the API at /docs without requests to other hosts, and can call it with a token', async () => {
  const server = theServer()
  // The browser is unpacked there, so the folder must not belong to another user or an earlier run.
  vi.stubEnv('TMPDIR', aDirectory())
  onTestFinished(() => void vi.unstubAllEnvs())
  // A headless browser needs no graphics.
  chromium.setGraphicsMode = false
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [
      ...chromium.args,
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-gpu',
    ],
    headless: true,
  })
  const page = await browser.newPage({ viewport: { width: 1000, height: 600 } })
  const hosts = new Set<string>()
  const complaints: string[] = []
  page.on('request', (request) =>
    hosts.add(new URL(request.url()).protocol === 'data:' ? 'data' : new URL(request.url()).host),
  )
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))

  await page.goto(`${server.url}/docs`)
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  await page.getByLabel('auth-bearer-value').fill(server.token)
  await page
    .locator('form', { has: page.getByLabel('auth-bearer-value') })
    .getByRole('button', { name: 'Apply credentials' })
    .click()
  await page.getByRole('button', { name: 'Close' }).first().click()
  await page.getByRole('link', { name: 'clusters', exact: true }).click()
  await page
    .locator('[id="operations-clusters-get_organizations_org_clusters"] .opblock-summary-control')
    .click()
  await page.getByPlaceholder('org', { exact: true }).first().fill('default')
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.locator('.live-responses-table').getByText('Default cluster').first().waitFor()
  if (process.env['SCREENSHOT']) await page.screenshot({ path: process.env['SCREENSHOT'] })

  expect([...hosts].filter((host) => host !== 'data')).toEqual([new URL(server.url).host])
  expect(complaints).toEqual([])
  await browser.close()
})
