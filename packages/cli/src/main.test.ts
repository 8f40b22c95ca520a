import { afterEach, describe, expect, it, vi } from 'vitest'
import { main } from './main.ts'

const groups = [[], ['org'], ['user'], ['token'], ['pipeline'], ['agent']]
const commands = [
  ['up'],
  ['serve'],
  ['worker'],
  ['migrate'],
  ['backup'],
  ['restore'],
  ['org', 'create'],
  ['org', 'set'],
  ['user', 'create'],
  ['user', 'sign-in-link'],
  ['token', 'create'],
  ['token', 'revoke'],
  ['pipeline', 'lint'],
  ['run'],
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

describe('wrong usage', () => {
  it.each([
    [[], 'Usage:'],
    [['org'], 'Usage:'],
    [['fly'], "unknown command 'fly'"],
    [['up', '--fast'], "unknown option '--fast'"],
    [['up', 'now'], 'too many arguments'],
    [['backup'], "missing required argument 'file'"],
    [['org', 'create', 'acme'], "'--name <name>' not specified"],
    [['org', 'set', 'acme', '--feature', 'audit_log'], 'NAME=on or NAME=off'],
    [
      ['user', 'create', '--email', 'a@b', '--name', 'A', '--org', 'acme', '--role', 'owner'],
      'Allowed choices are admin, member',
    ],
    [['token', 'create', '--user', 'a@b'], "'--scope <scope>' not specified"],
    [['token', 'create', '--user', 'a@b', '--scope', 'read_user', '--expires-in', 'soon'], 'such as 90d'],
    [['token', 'create', '--user', 'a@b', '--scope', 'read_user', '--expires-in', '99999d'], '100 years'],
  ])('exits with 2 and says what is wrong: millrace %j', async (args, message) => {
    const answer = await millrace(args)
    expect(answer).toMatchObject({ code: 2, stdout: '' })
    expect(answer.stderr).toContain(message)
  })
})
