import type { BrowserContext, Request } from 'playwright-core'
import { expect, it } from 'vitest'
import { freePort } from '../../testbed/src/free-port.ts'
import { aDataDirectory, clientOf, startServer, stop, theServer } from '../millrace.ts'
import { openTab, plainHost, signIn, visit, withBrowser } from './browser.ts'
import { readRows } from './log-page.ts'
import { aScene, rowsOf } from './scene.ts'

const steps = 'steps: [{ label: One, command: a }, { label: Two, command: b }]'

/** How many event streams the browser has open, as it goes on. */
function countStreams(context: BrowserContext): () => number {
  const open = new Set<Request>()
  const isStream = (request: Request) => /\/events\?|\/events$/.test(request.url())
  context.on('request', (request) => void (isStream(request) && open.add(request)))
  context.on('requestfinished', (request) => void open.delete(request))
  context.on('requestfailed', (request) => void open.delete(request))
  return () => open.size
}

withBrowser.describe('live updates', () => {
  it('show changes of builds and jobs without a reload, and leave the row under the pointer', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps })
    const tab = await visit()
    await signIn(tab, server, scene.page)
    const { page } = tab
    const second = page.getByRole('list', { name: 'Jobs' }).getByRole('link', { name: /Two/ })
    await second.hover()
    const before = await second.boundingBox()
    const run = await scene.begin()
    await page.getByRole('main').getByText('Running').first().waitFor()
    await run.finish(1)
    const held = page.getByRole('button', { name: 'The list has changed · Update' })
    await held.waitFor()
    expect(await second.boundingBox()).toEqual(before)
    await page.mouse.move(1, 1)
    await held.waitFor({ state: 'detached' })
    await (await scene.begin()).finish(0)
    await page.getByRole('main').locator('header').first().getByText('Failed', { exact: true }).waitFor()
    expect(await page.title()).toContain('✗ #1')
    expect(tab.complaints).toEqual([])
  })

  it('leave the pipeline under the pointer in its place, also in a list by the last build', async () => {
    const server = theServer()
    const unique = Date.now().toString(36)
    const one = 'steps: [{ label: One, command: a }]'
    const older = await aScene(server, { steps: one, name: `Older ${unique}` })
    await aScene(server, { steps: one, name: `Newer ${unique}` })
    const tab = await visit()
    await signIn(tab, server, `/default?sort=last&q=${unique}`)
    const { page } = tab
    const row = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('link', { name: `Older ${unique}` }) })
    await row.hover()
    const before = await row.boundingBox()
    const builds = older.api.replace(/\/\d+$/, '')
    await server.post(builds, { commit: 'HEAD', branch: 'main', message: 'The newest' })
    await row.getByRole('link', { name: /^#2 / }).waitFor()
    const held = page.getByRole('button', { name: 'The list has changed · Update' })
    await held.waitFor()
    expect(await row.boundingBox()).toEqual(before)
    await page.mouse.move(1, 1)
    await held.waitFor({ state: 'detached' })
    expect(
      await page.getByRole('list', { name: 'Pipelines' }).getByRole('listitem').first().textContent(),
    ).toContain(`Older ${unique}`)
    expect(tab.complaints).toEqual([])
  })

  it('leave the job under the pointer in its place on the page of an agent', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps })
    const first = await scene.begin()
    await first.finish(0)
    const { body } = await server.get(`${scene.api}/jobs/${first.id}`)
    const tab = await visit()
    await signIn(tab, server, new URL(String(body['agent']?.['web_url'])).pathname)
    const { page } = tab
    const jobs = page.getByRole('table', { name: 'Jobs of this agent' })
    const row = jobs.getByRole('row', { name: first.name })
    await row.hover()
    const before = await row.boundingBox()
    const second = await scene.begin()
    const held = page.getByRole('button', { name: 'The list has changed · Update' })
    await held.waitFor()
    expect(await row.boundingBox()).toEqual(before)
    await page.mouse.move(1, 1)
    await jobs.getByRole('row', { name: second.name }).getByText('Runs now').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('leave the waiting job under the pointer in its place on the page of a queue', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps })
    const tab = await visit()
    await signIn(tab, server, scene.queuePage)
    const { page } = tab
    const jobs = page.getByRole('table', { name: 'Waiting jobs' })
    const [first, second] = [/^One/, /^Two/].map((name) => jobs.getByRole('row', { name }))
    if (first === undefined || second === undefined) throw new Error('Two rows are there.')
    await first.waitFor()
    await second.hover()
    const before = await second.boundingBox()
    await scene.begin()
    const held = page.getByRole('button', { name: 'The list has changed · Update' })
    await held.waitFor()
    expect(await second.boundingBox()).toEqual(before)
    expect(await first.isVisible()).toBe(true)
    await page.mouse.move(1, 1)
    await first.waitFor({ state: 'detached' })
    expect(tab.complaints).toEqual([])
  })

  it('reach ten tabs over one stream', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: One, command: a }]' })
    const first = await visit()
    const streams = countStreams(first.context)
    await signIn(first, server, scene.page)
    await first.page.getByRole('main').getByText('One').first().waitFor()
    const tabs = [first]
    for (let count = 2; count <= 10; count++) {
      const tab = { ...(await openTab(first.context)), context: first.context }
      await tab.page.goto(server.url + scene.page)
      await tab.page.getByRole('main').getByText('One').first().waitFor()
      tabs.push(tab)
    }
    await (await scene.begin()).finish(0)
    for (const { page } of tabs) {
      await page.getByRole('main').locator('header').first().getByText('Passed', { exact: true }).waitFor()
    }
    expect(streams()).toBe(1)
    expect(tabs.flatMap(({ complaints }) => complaints)).toEqual([])
  })

  it('show jobs that wait and run, and agents that come and are lost, on the pages of cluster, queue and agent', async () => {
    const settings = {
      MILLRACE_DATA_DIR: aDataDirectory(),
      MILLRACE_AGENTS: '0',
      MILLRACE_AGENT_LOST_SECONDS: '3600',
      PORT: String(await freePort()),
    }
    const server = await startServer(settings)
    const scene = await aScene(server, { steps: 'steps: [{ label: One, command: a }]' })
    const tab = await visit()
    const { context } = tab
    await signIn(tab, server, scene.queuePage)
    const queue = tab.page
    const loadedAt = () => queue.evaluate(() => performance.timeOrigin)
    const before = await loadedAt()
    const waiting = queue.getByRole('table', { name: 'Waiting jobs' })
    await waiting.getByRole('row', { name: 'One' }).waitFor()
    await queue.getByText('1 waiting · 0 of 1 busy').waitFor()
    const { page: agent } = await openTab(context)
    await agent.goto(server.url + scene.queuePage)
    await agent
      .getByRole('table', { name: 'Agents' })
      .getByRole('link', { name: /^agent-/ })
      .click()
    await agent.getByRole('main').getByText('Idle').waitFor()
    const { page: cluster } = await openTab(context)
    await cluster.goto(server.url + scene.clusterPage)
    const queues = cluster.getByRole('table', { name: 'Queues' })
    await queues.getByText('Active').first().waitFor()

    const run = await scene.begin()
    await queue.getByText('No job waits in this queue.').waitFor()
    await queue.getByText('0 waiting · 1 of 1 busy').waitFor()
    const jobs = agent.getByRole('table', { name: 'Jobs of this agent' })
    await jobs.getByRole('row', { name: 'One' }).getByText('Runs now').waitFor()
    await run.finish(0)
    await jobs.getByRole('row', { name: 'One' }).getByText('Passed').waitFor()
    await queue.getByText('0 waiting · 0 of 1 busy').waitFor()
    await server.put(`${scene.api}/rebuild`, {})
    await waiting.getByRole('row', { name: 'One' }).waitFor()
    await server.post(`${scene.queueApi}/pause_dispatch`, {})
    await queues.getByText('Paused').waitFor()
    await queue.getByText('Dispatch is paused by').waitFor()

    // The server comes back with less patience, while the pages stay. It looks for silent agents several times in that time.
    await stop(server)
    await queue.getByText('The server cannot be reached').waitFor()
    await waiting.getByRole('row', { name: 'One' }).waitFor()
    await startServer({ ...settings, MILLRACE_AGENT_LOST_SECONDS: '20' })
    await agent.getByRole('main').getByText('Lost').waitFor()
    await queue.getByRole('table', { name: 'Agents' }).getByText('Lost').waitFor()
    expect(await loadedAt()).toBe(before)
  })

  it('catch up after the server was gone, and lose no row of a log', async () => {
    const dataDir = aDataDirectory()
    const settings = {
      MILLRACE_DATA_DIR: dataDir,
      MILLRACE_AGENTS: '0',
      MILLRACE_AGENT_LOST_SECONDS: '3600',
      PORT: String(await freePort()),
    }
    const server = await startServer(settings)
    const scene = await aScene(server, { steps: 'steps: [{ label: One, command: a }]' })
    const run = await scene.begin()
    await run.write(rowsOf(1, 10))
    const tab = await visit({ height: 2000 })
    await signIn(tab, server, `${scene.page}#${run.id}`)
    const { page, context } = tab
    await page.getByText('row 10', { exact: true }).waitFor()
    await stop(server)
    await page.getByText('The server cannot be reached').waitFor()
    // The banner does not push the end of the page out of view.
    const rest = () => page.evaluate(() => document.documentElement.scrollHeight - innerHeight)
    expect(await rest()).toBe(0)
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true }).first()
    expect(await cancel.isDisabled()).toBe(true)
    expect(await cancel.getAttribute('title')).toBe('The server cannot be reached now')
    // The page stays away while the log goes on.
    await context.setOffline(true)
    await startServer(settings)
    await run.write(rowsOf(11, 30))
    await context.setOffline(false)
    await page.getByText('row 30', { exact: true }).waitFor()
    await page.getByText('The server cannot be reached').waitFor({ state: 'hidden' })
    expect(await cancel.isEnabled()).toBe(true)
    await run.write(rowsOf(31, 40))
    await run.finish(0)
    await page.getByText('row 40', { exact: true }).waitFor()
    await page.getByRole('main').locator('header').first().getByText('Passed', { exact: true }).waitFor()
    const rows = Array.from({ length: 40 }, (_, index) => [index + 1, `row ${index + 1}`])
    await expect.poll(() => readRows(page)).toEqual(Object.fromEntries(rows))
  })

  it('bring a page that was not open yet once the server is back', async () => {
    const tab = await visit()
    await signIn(tab, theServer(), '/default')
    const { page, context } = tab
    await page.getByRole('heading', { level: 1 }).waitFor()
    await context.setOffline(true)
    await page
      .getByRole('navigation', { name: 'Pages of the organization' })
      .getByRole('link', { name: 'Agents' })
      .click()
    await page.getByText('The server cannot be reached').waitFor()
    await context.setOffline(false)
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    await page.getByText('The server cannot be reached').waitFor({ state: 'hidden' })
    expect(new URL(page.url()).pathname).toBe('/organizations/default/agents')
  })

  it('and copying work on plain http', async () => {
    const settings = { MILLRACE_DATA_DIR: aDataDirectory(), MILLRACE_AGENTS: '0' }
    const server = await startServer({ ...settings, MILLRACE_URL: `http://${plainHost}:0` })
    const { port } = new URL(server.url)
    const scene = await aScene(clientOf({ ...server, url: `http://localhost:${port}` }), {
      steps: 'steps: [{ label: One, command: a }]',
    })
    const tab = await visit()
    await signIn(tab, server, scene.page)
    const { page } = tab
    await page.getByRole('main').getByText('One').first().waitFor()
    expect(await page.evaluate(() => isSecureContext)).toBe(false)
    await (await scene.begin()).finish(0)
    await page.getByRole('main').locator('header').first().getByText('Passed', { exact: true }).waitFor()
    const copied = page.evaluate(
      () =>
        new Promise<string>((resolve) =>
          addEventListener('copy', () => resolve(String(getSelection())), { once: true }),
        ),
    )
    await page.getByRole('button', { name: 'Copy commit' }).first().click()
    expect(await copied).toBe('HEAD')
  })
})
