// A job that listens on another port of the server's host gets the cookies of everybody who follows a link to it, because cookies
// do not know ports.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { theServer } from '../millrace.ts'
import { signIn, submitToken, visit, withBrowser } from './browser.ts'
import { build, reach } from './world.ts'

/** A program on another port, with the cookies of its visitors. */
async function aListeningJob(host: string) {
  const taken: string[] = []
  const server = createServer((request, response) => {
    if (request.headers.cookie !== undefined) taken.push(request.headers.cookie)
    response.setHeader('Content-Type', 'text/html')
    response.end('<h1>A report</h1>')
  }).listen(0, host)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://${host}:${port}/`, cookies: () => taken[0] ?? '' }
}

const shownName = (page: Page) => page.getByRole('heading', { level: 1 }).innerText()

withBrowser.describe('the cookies of a signed-in person', () => {
  it('reach a job on another port, which can do nothing with them', async () => {
    const server = theServer()
    const job = await aListeningJob(new URL(server.url).hostname)
    const tab = await visit()
    await signIn(tab, server, '/-/me')
    await tab.page.getByRole('heading', { level: 1 }).waitFor()
    const name = await shownName(tab.page)
    const other = await tab.context.newPage()
    await other.goto(job.url)
    expect(job.cookies()).toContain('millrace_session=mrws_')

    const ask = (path: string, init: RequestInit = {}, headers: Record<string, string> = {}) =>
      fetch(server.url + path, {
        redirect: 'manual',
        ...init,
        headers: { Cookie: job.cookies(), Origin: server.url, Accept: 'text/html', ...headers },
      })
    const json = { 'Content-Type': 'application/json' }
    for (const guess of ['', '1', job.cookies().split('=')[1] ?? '']) {
      const page = guess === '' ? {} : { 'X-Millrace-Page': guess }
      expect((await ask('/v2/user', {}, page)).status).toBe(401)
      const token = { method: 'POST', body: JSON.stringify({ description: 'a job', scopes: ['read_user'] }) }
      expect((await ask('/v2/user/access-tokens', token, { ...json, ...page })).status).toBe(401)
      const ticket = { method: 'POST', body: JSON.stringify({ path: '/v2/user' }) }
      expect((await ask('/-/page-tickets', ticket, { ...json, ...page })).status).toBe(401)
      for (const path of ['/', '/-/me', '/sign-in', '/sign-in?page_ticket=none', '/default']) {
        const text = await (await ask(path, {}, page)).text()
        expect([path, text.includes(name), text.includes('mrps_')]).toEqual([path, false, false])
      }
    }
    const form = await (await ask('/sign-in?page_ticket=none')).text()
    const code = /name="form_code" value="(\w+)"/.exec(form)?.[1] ?? ''
    const everywhere = new URLSearchParams({ form_code: code, everywhere: 'yes' })
    await ask('/sign-out', { method: 'POST', body: everywhere })

    expect(await other.evaluate(() => localStorage.length)).toBe(0)
    await tab.page.reload()
    await tab.page.getByRole('heading', { level: 1, name }).waitFor()
    expect(tab.complaints).toEqual([])
  })
})

withBrowser.describe('a session in the browser', () => {
  it('is known to a new tab, and asks for a sign-in without its secret, once', async () => {
    const server = theServer()
    const tab = await visit()
    await signIn(tab, server, '/-/me')
    const name = await shownName(tab.page)
    const second = await tab.context.newPage()
    await second.goto(`${server.url}/sign-in`)
    await second.getByText(`Signed in as ${name}`).waitFor()
    expect(new URL(second.url()).search).toBe('')

    await second.evaluate(() => localStorage.clear())
    await second.goto(`${server.url}/-/me`)
    await second.getByText('has lost its key').waitFor()
    await submitToken(second, server.token)
    await second.getByRole('heading', { level: 1, name }).waitFor()
    await tab.page.reload()
    await tab.page.getByRole('heading', { level: 1, name }).waitFor()
  })

  it('downloads artifacts and opens the text of a log, and leaves nothing behind when it ends', async () => {
    const server = theServer()
    const steps = `env: { BUILDKITE_SKIP_CHECKOUT: "true" }
steps:
  - label: "Makes a file"
    command: echo "the rows of the log"; echo "what is in the file" > made.txt
    artifact_paths: made.txt`
    const made = await build(server, `Downloads ${process.pid}`, steps, 'With a file')
    await reach(server, made, 'passed')
    const tab = await visit()
    const { page } = tab
    const path = `/default/${made.pipeline}/builds/${made.number}`
    await signIn(tab, server, `${path}?tab=artifacts`)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'made.txt' }).click(),
    ])
    const stream = await file.createReadStream()
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks).toString()).toBe('what is in the file\n')

    await page.goto(server.url + path)
    await page.getByText('Makes a file').first().click()
    const [raw] = await Promise.all([
      tab.context.waitForEvent('page'),
      page.getByRole('link', { name: 'raw' }).click(),
    ])
    await raw.getByText('the rows of the log').first().waitFor()

    await page.goto(`${server.url}/sign-in`)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByLabel('Email').waitFor()
    expect(await page.evaluate(() => localStorage.getItem('millrace.page-secret'))).toBeNull()
    const cookies = await tab.context.cookies()
    expect(cookies.filter((cookie) => cookie.name === 'millrace_session')).toEqual([])
    // The page leaves for the sign-in while it loads.
    await raw.goto(server.url + path).catch(() => null)
    await raw.getByLabel('Email').waitFor()
  })
})
