import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { needing } from '../../testbed/src/needing.ts'
import { aDirectory, theServer } from '../millrace.ts'
import { aBrowserProgram, inTerminal, terminalLacks } from '../terminal.ts'
import { submitToken, visit, withBrowser } from './browser.ts'

/** Starts `millrace login`, and signs in on the page that it opens. */
async function begun() {
  const { url, token } = theServer()
  const folder = aDirectory()
  const browser = aBrowserProgram(folder)
  const session = inTerminal(['login', '--url', url], {
    XDG_CONFIG_HOME: folder,
    BROWSER: browser.path,
    MILLRACE_ORG: 'default',
  })
  const tab = await visit()
  await tab.page.goto(await browser.opened())
  await submitToken(tab.page, token)
  await tab.page.getByRole('heading', { name: /^Allow millrace on .*\?$/ }).waitFor()
  return { session, tab, profiles: join(folder, 'millrace', 'profiles.json') }
}

withBrowser.describe('millrace login in the browser', () => {
  const inScript = needing('programs', terminalLacks)

  inScript.it('gets a token when the person allows it', async () => {
    const { session, tab, profiles } = await begun()
    await tab.page.getByRole('button', { name: 'Allow' }).click()
    await tab.page.getByText('You are logged in.').waitFor()
    expect(await session.ended).toBe(0)
    expect(session.output()).toContain('Logged in to')
    expect(session.output()).toContain('The token expires')
    const [token = ''] = /mrt_\w+/.exec(readFileSync(profiles, 'utf8')) ?? []
    const { body } = await theServer().get('/v2/access-token', token)
    expect(body['description']).toMatch(/^millrace on /)
    expect(body['scopes']).toEqual(expect.arrayContaining(['read_build_logs', 'write_builds']))
    expect(body['scopes']).not.toContain('write_organizations')
    expect(tab.complaints).toEqual([])
  })

  inScript.it('ends with the reason when the person denies it', async () => {
    const { session, tab } = await begun()
    await tab.page.getByRole('button', { name: 'Deny' }).click()
    await tab.page.getByText('You are not logged in.').waitFor()
    expect(await session.ended).toBe(1)
    expect(session.output()).toContain('You denied it in the browser.')
  })

  inScript.it('needs no browser on the same machine, and renews its token', async () => {
    const { url, token } = theServer()
    const settings = { XDG_CONFIG_HOME: aDirectory(), BROWSER: '', DISPLAY: '', MILLRACE_ORG: 'default' }
    const session = inTerminal(['login', '--url', url], settings)
    await session.shows('paste it here')
    const [, code = ''] = /enter the code (\S+)/.exec(session.output()) ?? []
    const tab = await visit()
    await tab.page.goto(`${url}/-/device`)
    await submitToken(tab.page, token)
    await tab.page.getByLabel('Code').fill(code.toLowerCase())
    await tab.page.getByRole('button', { name: 'Continue' }).click()
    await tab.page.getByRole('heading', { name: /^Allow millrace on .*\?$/ }).waitFor()
    await tab.page.getByText(code).waitFor()
    await tab.page.getByRole('button', { name: 'Allow' }).click()
    await tab.page.getByRole('heading', { name: /is connected$/ }).waitFor()
    expect(await session.ended).toBe(0)
    expect(session.output()).toContain('and is renewed when it is used')
    expect(tab.complaints).toEqual([])

    const file = join(settings.XDG_CONFIG_HOME, 'millrace', 'profiles.json')
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Stored
    const [before] = Object.values(stored.profiles)
    if (before === undefined) throw new Error('Nothing is stored.')
    before.renewal.expires_at = new Date().toISOString()
    writeFileSync(file, JSON.stringify(stored))
    // Other tests make pipelines there too. A list that is higher than the terminal is shown in a pager, which waits for a key.
    const own = { XDG_CONFIG_HOME: settings.XDG_CONFIG_HOME, MILLRACE_PAGER: '' }
    const listings = [1, 2].map(() => inTerminal(['pipeline', 'list', '--org', 'default'], own))
    for (const listing of listings) expect(await listing.ended).toBe(0)
    const [after] = Object.values((JSON.parse(readFileSync(file, 'utf8')) as Stored).profiles)
    expect(after?.token).not.toBe(before.token)
    expect((await theServer().get('/v2/access-token', before.token)).status).toBe(401)
    expect((await theServer().get('/v2/access-token', after?.token ?? '')).status).toBe(200)
  })
})

interface Stored {
  profiles: Record<string, { token: string; renewal: { expires_at: string } }>
}
