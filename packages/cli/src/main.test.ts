import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { main } from './main.ts'

const groups = [
  [],
  ['org'],
  ['user'],
  ['token'],
  ['pipeline'],
  ['agent'],
  ['retention'],
  ['archive'],
  ['profile'],
  ['queue'],
  ['secret'],
  ['artifact'],
  ['annotation'],
  ['logs'],
]
const commands = [
  ['up'],
  ['serve'],
  ['worker'],
  ['migrate'],
  ['backup'],
  ['restore'],
  ['org', 'create'],
  ['org', 'set'],
  ['retention', 'show'],
  ['retention', 'set'],
  ['retention', 'preview'],
  ['retention', 'run'],
  ['archive', 'list'],
  ['archive', 'show'],
  ['user', 'create'],
  ['user', 'sign-in-link'],
  ['user', 'operator'],
  ['token', 'create'],
  ['token', 'revoke'],
  ['pipeline', 'lint'],
  ['pipeline', 'list'],
  ['pipeline', 'create'],
  ['pipeline', 'update'],
  ['pipeline', 'open'],
  ['agent', 'list'],
  ['agent', 'pause'],
  ['agent', 'resume'],
  ['agent', 'stop'],
  ['queue', 'list'],
  ['queue', 'pause'],
  ['queue', 'resume'],
  ['secret', 'set'],
  ['secret', 'list'],
  ['secret', 'delete'],
  ['token', 'list'],
  ['artifact', 'list'],
  ['artifact', 'download'],
  ['annotation', 'create'],
  ['logs', 'search'],
  ['user', 'list'],
  ['completion'],
  ['login'],
  ['logout'],
  ['profile', 'list'],
  ['profile', 'use'],
  ['run'],
  ['test-result'],
  ['agent', 'start'],
]

interface Answer {
  code: number
  stdout: string
  stderr: string
}

async function millrace(args: readonly string[]): Promise<Answer> {
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      said[name] += String(text)
      return true
    })
  }
  const code = await main(args)
  vi.restoreAllMocks()
  return { code, ...said }
}

afterEach(() => void vi.restoreAllMocks())

describe('millrace --help', () => {
  it('is there for every command, with an example', async () => {
    const answers: Answer[] = []
    for (const words of [...groups, ...commands]) answers.push(await millrace([...words, '--help']))
    for (const answer of answers) {
      expect(answer).toMatchObject({ code: 0, stderr: '' })
      expect(answer.stdout).toMatch(/^Usage: millrace [^]*\nExample:\n {2}\$ millrace /)
    }
    for (const { stdout } of answers.slice(groups.length)) expect(stdout).toContain('--json')
  })
})

describe('millrace completion', () => {
  it('knows every command and option of --help', async () => {
    const { stdout } = await millrace(['completion', 'bash'])
    for (const words of commands) {
      const help = await millrace([...words, '--help'])
      const options = [...help.stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, option]) => option)
      const [, known] = new RegExp(`'millrace ${words.join(' ')}'\\) flags='([^']*)'`).exec(stdout) ?? []
      expect(known?.split(' ')).toEqual(expect.arrayContaining(options))
    }
  })
})

describe('docs/cli.md', () => {
  it('shows every command that talks to a server', async () => {
    const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
    const missing: string[] = []
    for (const words of commands) {
      const { stdout } = await millrace([...words, '--help'])
      const isClient = stdout.includes('--no-color')
      if (isClient && !page.includes(`millrace ${words.join(' ')}`)) missing.push(words.join(' '))
    }
    expect(missing).toEqual([])
  })
})

describe('wrong usage', () => {
  it.each([
    [[], 'Usage:'],
    [['org'], 'Usage:'],
    [['fly'], "unknown command 'fly'"],
    [['up', '--fast'], "unknown option '--fast'"],
    [['up', 'now'], 'too many arguments'],
    [['test-result', 'report.xml'], 'millrace test-result report.xml -- npm test'],
    [['backup'], "missing required argument 'file'"],
    [['org', 'create', 'acme'], "'--name <name>' not specified"],
    [['org', 'set', 'acme', '--feature', 'audit_log'], 'NAME=on or NAME=off'],
    [
      ['user', 'create', '--email', 'a@b', '--name', 'A', '--org', 'acme', '--role', 'owner'],
      'Allowed choices are admin, member',
    ],
    [['retention', 'set', 'acme'], 'at least one setting'],
    [['retention', 'set', 'acme', '--build-days', '-1'], 'a whole number from 0'],
    [['retention', 'set', 'acme', '--log-days', '36501'], 'at most 36500'],
    [['retention', 'set', 'acme', '--archive-builds', 'maybe'], 'yes, no or "inherit"'],
    [['archive', 'show', 'acme', 'web', 'last'], 'a number, or a UUID'],
    [['login', '--token-stdin', '--token', 'x'], 'cannot be used with'],
    [['login', '--profile', '../x'], 'letters, digits'],
    [['pipeline', 'list', '--limit', '0'], 'a whole number from 1'],
    [['logs', 'search', 'x', '--in', 'all'], 'Allowed choices are failures, logs'],
    [['logs', 'search', 'x', '--from', 'soon'], 'an age such as 30m'],
    [['secret', 'set', 'KEY', 'value'], 'too many arguments'],
    [['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish'],
    [['token', 'create', '--user', 'a@b'], "'--scope <scope>' not specified"],
    [['token', 'create', '--user', 'a@b', '--scope', 'read_user', '--expires-in', 'soon'], 'such as 90d'],
    [['token', 'create', '--user', 'a@b', '--scope', 'read_user', '--expires-in', '99999d'], '100 years'],
  ])('exits with 2 and says what is wrong: millrace %j', async (args, message) => {
    const answer = await millrace(args)
    expect(answer).toMatchObject({ code: 2, stdout: '' })
    expect(answer.stderr).toContain(message)
  })
})
