import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { theServer } from './millrace.ts'
import { visit, withBrowser } from './web/browser.ts'

withBrowser.it('docs: renders the API without requests to other hosts, and can call it', async () => {
  const server = theServer()
  const { page, complaints } = await visit({ width: 1000, height: 600 })
  const hosts = new Set<string>()
  page.on('request', (request) =>
    hosts.add(new URL(request.url()).protocol === 'data:' ? 'data' : new URL(request.url()).host),
  )

  await page.goto(`${server.url}/docs`)
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  await page.getByLabel('auth-bearer-value').fill(server.token)
  await page
    .locator('form', { has: page.getByLabel('auth-bearer-value') })
    .getByRole('button', { name: 'Authorize' })
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

/** Files that a page names in code, such as `server/src/app.ts` or `e2e/journeys/start.test.ts`. */
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
