// Client commands in a real terminal, which the program `script` of util-linux provides.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aDirectory, eventually, program, theServer, type Settings } from './millrace.ts'

const hasScript = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '')
const reason = hasScript ? '' : ' (skipped: there is no script of util-linux)'

interface Session {
  output(): string
  type(text: string): void
  ended: Promise<number | null>
}

/** Runs `millrace …` in a terminal of 60 columns and 12 rows. */
function inTerminal(args: readonly string[], settings: Settings): Session {
  const quote = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`
  const command = [process.execPath, program, ...args].map(quote).join(' ')
  const child = spawn('script', ['-qec', `stty cols 60 rows 12; exec ${command}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TERM: 'xterm-256color', ...settings },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return {
    output: () => output,
    type: (text) => void child.stdin.write(text),
    ended: once(child, 'close').then(([code]: Array<number | null>) => code ?? null),
  }
}

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

describe.skipIf(!hasScript)(`in a terminal${reason}`, () => {
  it('millrace login asks for the token and does not show it', async () => {
    const { url, token } = theServer()
    const settings = { XDG_CONFIG_HOME: aDirectory(), MILLRACE_ORG: 'default' }
    const session = inTerminal(['login', '--url', url, '--token'], settings)
    await eventually('the question', async () => session.output().includes('(it is not shown): '))
    // The last character is a mistake that the delete key takes back.
    session.type(`${token}x\u007f\r`)
    expect(await session.ended).toBe(0)
    expect(session.output()).toContain('Logged in to')
    expect(session.output()).not.toContain(token.slice(0, 12))
  })

  it('millrace login opens the page that proposes a token', async () => {
    const { url } = theServer()
    const folder = aDirectory()
    const [browser, opened] = [join(folder, 'browser'), join(folder, 'opened')]
    writeFileSync(browser, `#!/bin/sh\necho "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`, {
      mode: 0o755,
    })
    const session = inTerminal(['login', '--url', url], { XDG_CONFIG_HOME: folder, BROWSER: browser })
    await eventually('the browser', async () => existsSync(opened))
    expect(readFileSync(opened, 'utf8')).toMatch(
      new RegExp(`^${url}/-/me/tokens\\?new=millrace%20on%20\\S+\n$`),
    )
    await eventually('the question', async () => session.output().includes('(it is not shown): '))
    session.type('\u0003')
    expect(await session.ended).toBe(1)
  })

  it('millrace login ends with Ctrl-C', async () => {
    const session = inTerminal(['login', '--url', theServer().url, '--token'], {
      XDG_CONFIG_HOME: aDirectory(),
    })
    await eventually('the question', async () => session.output().includes('(it is not shown): '))
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
