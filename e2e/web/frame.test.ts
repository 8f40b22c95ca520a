import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { eventually, theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Pages of the organization' })
const crumbs = (page: Page) => page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link')
const leftOfSearch = async (page: Page) =>
  (await page.getByRole('button', { name: /Search or jump/ }).boundingBox())?.x

withBrowser.describe('the frame of every page', () => {
  it('has the same navigation on every page, marked by its section, and a search that stays in its place', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, '/default')
    const pages: ReadonlyArray<[path: string, marked: string[]]> = [
      ['/default', ['Pipelines']],
      ['/default?q=nothing', ['Pipelines']],
      [scene.page, ['Pipelines']],
      ['/organizations/default/builds', ['Builds']],
      ['/organizations/default/log-search', ['Logs']],
      ['/organizations/default/insights', ['Insight']],
      [scene.queuePage, ['Agents']],
      ['/organizations/default/settings/general', ['Settings']],
      ['/-/me', []],
      ['/-/me/tokens', []],
    ]
    const places = new Set<number | undefined>()
    for (const [path, marked] of pages) {
      await page.goto(server.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      const links = navigation(page).getByRole('link')
      expect([path, await links.allInnerTexts()]).toEqual([
        path,
        ['Pipelines', 'Builds', 'Tests', 'Logs', 'Insight', 'Agents', 'Settings'],
      ])
      const here = navigation(page).locator('[aria-current]')
      expect([path, await here.allInnerTexts()]).toEqual([path, marked])
      places.add(await leftOfSearch(page))
    }
    expect(places.size).toBe(1)
    expect(tab.complaints).toEqual([])
  })

  it('leads from the organization down to the thing, by names', async () => {
    const server = theServer()
    const scene = await aScene(server, {
      name: `:rocket: Trail ${process.pid}`,
      steps: 'steps: [{ label: Tests, command: make }]',
    })
    const run = await scene.begin()
    const job = (await server.get(`${scene.api}/jobs/${run.id}`)).body
    const agent = new URL(String(job['agent']?.['web_url'])).pathname
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, '/default')
    const trailOf = async (path: string, last: string) => {
      await page.goto(server.url + path)
      await crumbs(page).filter({ hasText: last }).last().waitFor()
      await expect.poll(() => crumbs(page).last().getAttribute('aria-current')).toBe('page')
      return crumbs(page).allInnerTexts()
    }
    await expect.poll(() => trailOf(scene.page, '#1')).toEqual(['Default', `🚀 Trail ${process.pid}`, '#1'])
    const queue = String(job['agent_query_rules']?.['0']).replace('queue=', '')
    await expect.poll(() => trailOf(scene.queuePage, queue)).toEqual(['Default', 'Default cluster', queue])
    const name = String(job['agent']?.['name'])
    await expect.poll(() => trailOf(agent, name)).toEqual(['Default', 'Default cluster', queue, name])
    await crumbs(page).filter({ hasText: queue }).first().click()
    await page.waitForURL(server.url + scene.queuePage)
    expect(await trailOf('/-/me/tokens', 'Access tokens')).toEqual(['You', 'Access tokens'])
    await page.setViewportSize({ width: 390, height: 844 })
    const pipeline = `🚀 Trail ${process.pid}`
    const steps = `${scene.page.replace(/\/builds\/.*/, '')}/settings/steps`
    await expect.poll(() => trailOf(steps, 'Steps')).toEqual([pipeline, 'Steps'])
    await expect.poll(() => trailOf(scene.page, '#1')).toEqual([pipeline, '#1'])
    expect(tab.complaints).toEqual([])
  })

  it('names the thing in its heading at every address that the API gives for a page', async () => {
    const server = theServer()
    const unique = Date.now().toString(36)
    const api = '/v2/organizations/default'
    const scene = await aScene(server, {
      name: `Addressed ${unique}`,
      message: `Change ${unique}`,
      steps: `steps: [{ label: "Tests ${unique}", command: make }]`,
    })
    const run = await scene.begin()
    const { body: suite } = await server.post(`${api}/suites`, {
      name: `Suite ${unique}`,
      default_branch: 'main',
    })
    await fetch(`${server.url}/v1/uploads`, {
      method: 'POST',
      headers: {
        Authorization: `Token token="${String(suite['api_token'])}"`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({
        format: 'json',
        run_env: { key: unique, branch: 'main' },
        data: [{ scope: 'Basket', name: 'adds', result: 'passed', history: { start_at: 0, duration: 1 } }],
      }),
    })
    const tests = `${api}/suites/${String(suite['slug'])}/tests`
    await eventually('the test is known', async () => (await server.get(tests)).body['0'])
    const { body: template } = await server.post(`${api}/pipeline-templates`, {
      name: `Template ${unique}`,
      configuration: 'steps: []',
    })
    const job = (await server.get(`${scene.api}/jobs/${run.id}`)).body
    const queue = (await server.get(scene.queueApi)).body
    const cluster = (await server.get(scene.queueApi.replace(/\/queues\/.*/, ''))).body
    const pipeline = (await server.get(`${api}/pipelines/${scene.pipeline}`)).body
    const things = [
      [(await server.get(api)).body, 'Pipelines of Default'],
      [pipeline, `Addressed ${unique}`],
      [(await server.get(scene.api)).body, `Change ${unique}`],
      [job, `Change ${unique}`],
      [cluster, String(cluster['name'])],
      [queue, String(queue['key'])],
      [job['agent'], String(job['agent']?.['name'])],
      [template, `Template ${unique}`],
      [suite, `Suite ${unique}`],
      [(await server.get(tests)).body['0'], 'Basket › adds'],
    ] as const
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, '/default')
    for (const [thing, name] of things) {
      await page.goto(String(thing?.['web_url']))
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    }
    await page.goto(String(job['web_url']))
    await page.getByRole('heading', { level: 2, name: `Tests ${unique}`, exact: true }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it.each([
    ['/default/nothing-there', 'This pipeline is not there, or not yours to see.'],
    ['/nobody-here', 'This organization is not there, or not yours to see.'],
    ['/organizations/default/nothing', 'A page at this address is not there, or not yours to see.'],
    ['/organizations/default/settings/nothing', 'A page at this address is not there, or not yours to see.'],
    ['/organizations/default', 'A page at this address is not there, or not yours to see.'],
    ['/-/nothing', 'A page at this address is not there, or not yours to see.'],
  ])('says at %s what is missing, and leads on', async (path, text) => {
    const server = theServer()
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, '/default')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(server.url + path)
    await page.getByRole('heading', { level: 1, name: text }).waitFor()
    expect(asked.filter((each) => each.startsWith('/v2/organizations/organizations'))).toEqual([])
    await page.getByRole('link', { name: 'Go to the pipelines' }).click()
    await page.waitForURL(`${server.url}/default`)
    expect(tab.complaints.filter((each) => !each.includes('404'))).toEqual([])
  })
})
