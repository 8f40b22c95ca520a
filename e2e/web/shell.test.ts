import { describe, expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { lacks, signIn, submitToken, titled, visit } from './browser.ts'

describe.skipIf(lacks !== null)(titled('the shell'), () => {
  it('sends strangers to the sign-in, and leads back to the address with its fragment', async () => {
    const server = theServer()
    const tab = await visit()
    await tab.page.goto(`${server.url}/default/demo?state=failed#anchor`)
    await tab.page.waitForURL(/\/sign-in/)
    await submitToken(tab.page, server.token)
    await tab.page.waitForURL(`${server.url}/default/demo?state=failed#anchor`)
    await tab.page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor()
    expect(tab.complaints.filter((text) => !text.includes('401'))).toEqual([])
  })

  it('leads from / to the pipelines of the organization', async () => {
    const server = theServer()
    const tab = await visit()
    await signIn(tab, server)
    await tab.page.waitForURL(`${server.url}/default`)
    await tab.page.getByRole('link', { name: 'Demo' }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('finds pages by the palette, with the keyboard alone', async () => {
    const server = theServer()
    const tab = await visit()
    await signIn(tab, server, '/default')
    await tab.page.getByRole('link', { name: 'Demo' }).waitFor()
    await tab.page.keyboard.press('Control+k')
    await tab.page.keyboard.type('my builds')
    await tab.page.getByRole('option', { name: 'My builds', exact: false }).first().waitFor()
    await tab.page.keyboard.press('Enter')
    await tab.page.waitForURL(/\/organizations\/default\/builds\?creator=me/)
    expect(await tab.page.title()).toBe('My builds · Millrace')
    expect(tab.complaints).toEqual([])
  })
})
