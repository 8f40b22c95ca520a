import { expect, it } from 'vitest'
import { aDataDirectory, millrace, startServer, theServer } from '../millrace.ts'
import { submitToken, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

/** A command does not know the port that the server has got. */
const hereOf = (link: string, url: string): string => `${url}${new URL(link).pathname}${new URL(link).search}`

withBrowser.describe('signing in', () => {
  it('leads to the job of the link that was opened', async () => {
    const server = theServer()
    const scene = await aScene(server, {
      steps: 'steps: [{ label: Linked, command: a }, { label: Other, command: b }]',
    })
    const run = await scene.begin()
    await run.write('the log of the linked job\r\n')
    const { body } = await server.get(`${scene.api}/jobs/${run.id}`)
    const link = String(body['web_url'])
    const tab = await visit()
    const { page } = tab
    await page.goto(link)
    await page.waitForURL(/\/sign-in/)
    await submitToken(page, server.token)
    await page.waitForURL(link)
    await page.getByRole('region', { name: `Job ${run.name}` }).waitFor()
    await page.getByText('the log of the linked job').waitFor()
    expect(tab.complaints.filter((text) => !text.includes('401'))).toEqual([])
  })

  it('works by email and password, and by the link of the operator, once', async () => {
    const { url, settings } = theServer()
    const email = `signs-in-${process.pid}@example.com`
    const password = 'correct horse battery staple'
    const person = ['--email', email, '--name', 'Ada', '--org', 'default', '--role', 'member']
    const made = await millrace(['user', 'create', ...person, '--password', password], settings)
    expect(made.code).toBe(0)
    const first = await visit()
    await first.page.goto(`${url}/default/demo`)
    await first.page.waitForURL(/\/sign-in/)
    await first.page.getByLabel('Email').fill(email)
    await first.page.getByLabel('Password').fill('wrong')
    await first.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await first.page.getByRole('alert').waitFor()
    await first.page.getByLabel('Password').fill(password)
    await first.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await first.page.waitForURL(`${url}/default/demo`)
    await first.page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor()

    const link = (await millrace(['user', 'sign-in-link', email], settings)).stdout.trim()
    const second = await visit()
    await second.page.goto(hereOf(link, url))
    await second.page.getByRole('button', { name: 'Sign in' }).click()
    await second.page.getByText('Next time you sign in').waitFor()
    await second.page.goto(`${url}/-/me`)
    await second.page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor()
    const third = await visit()
    await third.page.goto(hereOf(link, url))
    await third.page.getByRole('alert').waitFor()
  })

  it('works by the link that the first start prints', async () => {
    const server = await startServer({ MILLRACE_DATA_DIR: aDataDirectory(), MILLRACE_AGENTS: '0' })
    const { first } = JSON.parse(server.output().stdout) as { first: { sign_in_code: string } }
    const tab = await visit()
    await tab.page.goto(`${server.url}/sign-in?code=${first.sign_in_code}`)
    await tab.page.getByRole('button', { name: 'Sign in' }).click()
    await tab.page.getByLabel('New password').fill('correct horse battery staple')
    await tab.page.getByRole('button', { name: 'Set password' }).click()
    await tab.page.getByRole('navigation', { name: 'Pages of the organization' }).waitFor()
    expect(tab.complaints).toEqual([])
  })
})
