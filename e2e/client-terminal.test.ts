// Client commands in a real terminal.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stripVTControlCharacters } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import { aDirectory, theServer, type Settings } from './millrace.ts'
import { aBrowserProgram, inTerminal, terminalLacks } from './terminal.ts'

/** A server with so many pipelines of the organization acme. */
async function aServerOf(count: number): Promise<Settings> {
  const rows = Array.from({ length: count }, (_, index) => ({
    slug: `pipeline-${index}`,
    name: `A pipeline with a long name, ${index}`,
    repository: 'https://git.example.com/a/very/long/path/to/a/repository.git',
    default_branch: 'main',
    running_builds_count: 0,
    scheduled_builds_count: 0,
  }))
  const server = createServer((_request, response) => void response.end(JSON.stringify(rows)))
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return {
    XDG_CONFIG_HOME: aDirectory(),
    MILLRACE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    MILLRACE_TOKEN: 'token',
    MILLRACE_ORG: 'acme',
  }
}

needing('programs', terminalLacks).describe('in a terminal', () => {
  it('millrace login asks for the token and does not show it', async () => {
    const { url, token } = theServer()
    const settings = { XDG_CONFIG_HOME: aDirectory(), MILLRACE_ORG: 'default' }
    const session = inTerminal(['login', '--url', url, '--token'], settings)
    await session.shows('(it is not shown): ')
    // The last character is a mistake that the delete key takes back.
    session.type(`${token}x\u007f\r`)
    expect(await session.ended).toBe(0)
    expect(session.output()).toContain('Logged in to')
    expect(session.output()).not.toContain(token.slice(0, 12))
  })

  it('millrace login waits for the browser, and takes a token meanwhile', async () => {
    const { url, token } = theServer()
    const folder = aDirectory()
    const browser = aBrowserProgram(folder)
    const settings = { XDG_CONFIG_HOME: folder, BROWSER: browser.path, MILLRACE_ORG: 'default' }
    const session = inTerminal(['login', '--url', url], settings)
    const page = new URL(await browser.opened())
    expect(page.origin + page.pathname).toBe(`${url}/-/oauth/authorize`)
    expect(page.searchParams.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    await session.shows('(it is not shown): ')
    const answer = `${page.searchParams.get('redirect_uri')}?code=x&state=wrong&iss=${encodeURIComponent(url)}`
    expect((await fetch(answer)).status).toBe(404)
    session.type(`${token}\r`)
    expect(await session.ended).toBe(0)
    expect(session.output()).toContain('Logged in to')
  })

  it('millrace login ends with Ctrl-C', async () => {
    const session = inTerminal(['login', '--url', theServer().url, '--token'], {
      XDG_CONFIG_HOME: aDirectory(),
    })
    await session.shows('(it is not shown): ')
    session.type('abc\u0003')
    expect(await session.ended).toBe(1)
    expect(session.output()).toContain('Canceled.')
  })

  it('tables have colors and fit its width, without colors if NO_COLOR is set', async () => {
    const settings = await aServerOf(3)
    const colored = inTerminal(['pipeline', 'list'], settings)
    expect(await colored.ended).toBe(0)
    expect(colored.output()).toContain('\u001b[1mPIPELINE')
    const lines = stripVTControlCharacters(colored.output()).trimEnd().split('\r\n')
    expect(lines).toHaveLength(4)
    expect(Math.max(...lines.map((line) => line.length))).toBe(60)
    const plain = inTerminal(['pipeline', 'list'], { ...settings, NO_COLOR: '1' })
    expect(await plain.ended).toBe(0)
    expect(plain.output()).toContain('PIPELINE')
    expect(plain.output()).not.toContain('\u001b')
  })

  it('what does not fit the screen is shown in the pager, and less is printed', async () => {
    const pager = { MILLRACE_PAGER: "sed 's/^/paged: /'", NO_COLOR: '1' }
    const long = inTerminal(['pipeline', 'list'], { ...(await aServerOf(20)), ...pager })
    expect(await long.ended).toBe(0)
    expect(long.output().match(/^paged: /gm)).toHaveLength(21)
    const short = inTerminal(['pipeline', 'list'], { ...(await aServerOf(5)), ...pager })
    expect(await short.ended).toBe(0)
    expect(short.output()).not.toContain('paged: ')
  })
})
