// The client commands, as processes against a real server.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { json, aLoggedInUser, refusalOf } from './logged-in.ts'
import { aDirectory, millrace, theServer, type Settings } from './millrace.ts'

describe('millrace login', () => {
  it('checks the token, stores it where only the user can read it, and tells who is logged in', async () => {
    const { settings, token, url } = await aLoggedInUser('logged-in')
    const file = join(settings.XDG_CONFIG_HOME, 'millrace', 'profiles.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toContain(token)
    const host = new URL(url).host
    expect(await json(['profile', 'list'], settings)).toEqual([
      { name: host, url, org: 'logged-in', current: true },
    ])
    const again = await millrace(['login', '--token-stdin', '--json', '--profile', 'second'], settings, {
      input: token,
    })
    expect(JSON.parse(again.stdout)).toMatchObject({
      profile: 'second',
      url,
      org: 'logged-in',
      user: { email: 'logged-in@example.com' },
      expires_at: null,
    })
    expect(again.stdout).not.toContain(token)
    expect(await json(['profile', 'use', host], settings)).toMatchObject({ profile: host })
    expect(refusalOf(await millrace(['profile', 'use', 'third'], settings))).toContain('choose one of')
    expect(refusalOf(await millrace(['profile', 'use', host, '--org', 'nowhere'], settings))).toContain(
      'You have access to these organizations: logged-in.',
    )
  })

  it('stores nothing if the server refuses the token, cannot be reached, or is none of ours', async () => {
    const { url } = theServer()
    const settings = { XDG_CONFIG_HOME: aDirectory(), MILLRACE_DATA_DIR: aDirectory() }
    const attempt = (address: string, input: string) =>
      millrace(['login', '--url', address, '--token-stdin'], settings, { input }).then(refusalOf)
    expect(await attempt(url, 'mrt_wrong')).toContain('does not accept the token that was given')
    expect(await attempt(url, '\n')).toBe('The token is empty.\n')
    expect(await attempt(url, 'two words')).toContain('characters that no token has')
    const other = createServer((_request, response) => response.end('<html>hello</html>'))
    other.listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    expect(await attempt(address, 'x')).toContain(`${address} answers, but not like a Millrace server.`)
    other.close()
    other.closeAllConnections()
    await once(other, 'close')
    expect(await attempt(address, 'x')).toContain(`No connection to ${address}: no server listens there`)
    expect(await json(['profile', 'list'], settings)).toEqual([])
    expect(refusalOf(await millrace(['login', '--url', url], settings))).toContain('--token-stdin')
  })

  it('is asked for by a command without a login, with the command that makes a token here', async () => {
    const { settings: operator } = theServer()
    const settings = { ...operator, XDG_CONFIG_HOME: aDirectory(), PORT: '4000' }
    const stderr = refusalOf(await millrace(['pipeline', 'list'], settings))
    expect(stderr).toContain('millrace login --url https://ci.example.com\n')
    expect(stderr).toContain('--scope all | millrace login --url http://127.0.0.1:4000 --token-stdin\n')
  })
})

describe('millrace logout', () => {
  it('deletes the stored token, and revokes it if asked', async () => {
    const { settings, token, url } = await aLoggedInUser('logged-out')
    const headers = { Authorization: `Bearer ${token}` }
    const login = ['login', '--url', url, '--token-stdin']
    expect(await json(['logout'], settings)).toMatchObject({ revoked: false, current: null })
    expect((await fetch(`${url}/v2/access-token`, { headers })).status).toBe(200)
    expect(refusalOf(await millrace(['logout'], settings))).toBe('You are not logged in.\n')
    await millrace(login, settings, { input: token })
    expect(await json(['logout', '--revoke'], settings)).toMatchObject({ revoked: true })
    expect((await fetch(`${url}/v2/access-token`, { headers })).status).toBe(401)
  })
})

describe('millrace pipeline list', () => {
  it('prints a table, or one JSON value, and nothing that a terminal would act on', async () => {
    const { settings, post } = await aLoggedInUser('lister')
    expect(await json(['pipeline', 'list'], settings)).toEqual([])
    const empty = await millrace(['pipeline', 'list'], settings)
    expect(empty).toMatchObject({ code: 0, stdout: '', stderr: 'lister has no such pipelines.\n' })
    const { id } = await post('clusters', { name: 'Own' })
    const repository = 'https://e.example/\u009b2J.git'
    await post('pipelines', { name: 'Web', repository, cluster_id: id, configuration: 'steps: []' })
    expect(await json(['pipeline', 'list', '--name', 'we'], settings)).toMatchObject([{ slug: 'web' }])
    const table = await millrace(['pipeline', 'list'], settings)
    expect(table.stdout).toMatch(/^PIPELINE +NAME +REPOSITORY +BRANCH +RUNNING +SCHEDULED\nweb +Web +https/)
    expect(table.stdout).not.toMatch(/[^\P{Cc}\n]/u)
  })

  it('is refused with the cause and the way out', async () => {
    const { settings, token, url } = await aLoggedInUser('refused')
    const list = (more: Settings, ...args: string[]) =>
      millrace(['pipeline', 'list', ...args], { ...settings, ...more }).then(refusalOf)
    expect(await list({}, '--org', 'nowhere')).toBe(
      'No organization found.\nYou have access to these organizations: refused. Choose one with --org or MILLRACE_ORG.\n',
    )
    expect(await list({ MILLRACE_TOKEN: 'mrt_wrong' })).toContain('the token in MILLRACE_TOKEN')
    expect(await list({ MILLRACE_URL: 'http://127.0.0.1:9' })).toContain(
      'not logged in to http://127.0.0.1:9',
    )
    const { token: narrow } = await json(
      ['token', 'create', '--user', 'refused@example.com', '--scope', 'read_user'],
      theServer().settings,
    )
    expect(await list({ MILLRACE_TOKEN: String(narrow) })).toContain(
      `read_pipelines scope. Make a token that has it at ${url}/-/me/tokens`,
    )
    const headers = { Authorization: `Bearer ${token}` }
    await fetch(`${url}/v2/access-token`, { method: 'DELETE', headers })
    expect(await list({})).toContain(`Log in again: millrace login --url ${url}\n`)
  })
})
