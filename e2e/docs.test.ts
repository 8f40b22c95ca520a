import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
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

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (path) => /^(?:[^/]+|docs\/.*|deploy\/.*)\.md$/.test(path) && !path.includes('node_modules'),
)

/** As the sites that show repositories make them. */
const anchorsOf = (markdown: string) =>
  new Set(
    [...markdown.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

/** Links to files and sections that do not exist. */
function brokenLinks(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const links = [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, link = '']) => link,
  )
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : join(dirname(page), path)
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && !anchorsOf(readFileSync(join(root, target), 'utf8')).has(anchor)
  })
}

/** Files that a page names in code, such as `server/src/app.ts` or `e2e/start.test.ts`. */
function missingFiles(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const named = [
    ...text.matchAll(
      /`((?:packages|server|agent|engine|cli|web|protocol|e2e|deploy|tools)\/[\w./-]+\.\w+)`/g,
    ),
  ]
  return named
    .map(([, path = '']) => path)
    .filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, 'packages', path)))
}

describe.each(pages)('%s', (page) => {
  it('has links to files and sections that exist', () => {
    expect(brokenLinks(page)).toEqual([])
  })

  it('names files that exist', () => {
    expect(missingFiles(page)).toEqual([])
  })
})

it('finds the pages of the repository', () => {
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/threat-model.md']))
})
