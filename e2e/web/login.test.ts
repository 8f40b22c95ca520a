import { readFileSync } from 'node:fs'
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
})
