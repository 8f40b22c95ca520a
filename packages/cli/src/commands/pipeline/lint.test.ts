import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { aFolder } from '../../../test/running.ts'
import { main } from '../../main.ts'

let stdout: string
let stderr: string

beforeEach(() => {
  stdout = ''
  stderr = ''
  vi.spyOn(console, 'log').mockImplementation((text: string) => void (stdout += `${text}\n`))
  vi.spyOn(console, 'error').mockImplementation((text: string) => void (stderr += `${text}\n`))
})

afterEach(() => void vi.restoreAllMocks())

function lint(text: string, ...args: string[]): Promise<number> {
  const folder = aFolder({ 'pipeline.yml': text })
  vi.spyOn(process, 'cwd').mockReturnValue(folder)
  return main(['pipeline', 'lint', 'pipeline.yml', ...args])
}

describe('millrace pipeline lint FILE', () => {
  it('says in one line what a right pipeline holds', async () => {
    const text = `
      steps:
        - {command: make, parallelism: 3}
        - wait
        - {group: Checks, steps: [{command: lint}, {command: types}]}
    `
    expect(await lint(text)).toBe(0)
    expect({ stdout, stderr }).toEqual({
      stdout: 'pipeline.yml is right: 4 steps, 6 jobs, 0 warnings.\n',
      stderr: '',
    })
  })

  it('shows every problem with its line and a caret, and exits with 1', async () => {
    const text = 'steps:\n  - command: make\n    labl: test\n  - command: x\n    parallelism: 0\n'
    expect(await lint(text)).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toContain('pipeline.yml:3:5: ')
    expect(stderr).toContain('  3 |     labl: test\n    |     ^\n  did you mean `label`?\n\n')
    expect(stderr).toContain('  5 |     parallelism: 0\n    |                  ^\n')
  })

  it('shows warnings, which are no reason to fail', async () => {
    expect(await lint('step: []\n')).toBe(0)
    expect(stdout).toBe('pipeline.yml is right: 0 steps, 0 jobs, 1 warning.\n')
    expect(stderr).toContain('pipeline.yml:1:1: the pipeline has no steps\n')
  })

  it('prints one JSON value with --json, right or wrong', async () => {
    expect(await lint('steps: [{command: make}]', '--json')).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ ok: true, problems: [], warnings: [], steps: 1, jobs: 1 })
    stdout = ''
    expect(await lint('steps: [{comand: make}]', '--json')).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      problems: [{ line: 1, column: 9 }],
      warnings: [],
      steps: null,
      jobs: null,
    })
    expect(stderr).toBe('')
  })

  it('leaves variables alone, unless --env or --use-env gives them', async () => {
    const text = 'steps: [{command: make, key: "${NAME?}"}]'
    expect(await lint('steps: [{command: make, timeout_in_minutes: "$MINUTES"}]')).toBe(1)
    expect(stderr).toMatch(/^Variables are read as they are written; --env and --use-env fill them in\.\n/)
    expect(await lint(text, '--env', 'OTHER=1')).toBe(1)
    expect(stderr).toContain('$NAME: not set')
    expect(await lint(text, '--env', 'NAME=a=b')).toBe(1)
    expect(await lint(text, '--env', 'NAME=first')).toBe(0)
    vi.stubEnv('NAME', 'from the environment')
    expect(await lint(text, '--use-env')).toBe(1)
    vi.stubEnv('NAME', 'named')
    expect(await lint(text, '--use-env')).toBe(0)
    vi.unstubAllEnvs()
  })

  it('refuses with --stored what only a file may hold', async () => {
    const text = 'steps: [{command: make, if_changed: "*.ts"}]'
    expect(await lint(text)).toBe(0)
    expect(await lint(text, '--stored')).toBe(1)
    expect(stderr).toContain('`if_changed` needs a checkout')
  })

  it('finds the file at a usual place when none is named, if there is just one', async () => {
    const steps = 'steps: [{command: make}]'
    const lintFolder = (files: Record<string, string>): Promise<number> => {
      vi.spyOn(process, 'cwd').mockReturnValue(aFolder(files))
      return main(['pipeline', 'lint'])
    }
    expect(await lintFolder({ '.buildkite/pipeline.yaml': steps })).toBe(0)
    expect(stdout).toMatch(/^\.buildkite\/pipeline\.yaml is right: 1 step, 1 job, /)
    expect(await lintFolder({})).toBe(1)
    expect(stderr).toContain('There is no pipeline here')
    expect(await lintFolder({ 'buildkite.yml': steps, 'buildkite/pipeline.json': '{}' })).toBe(1)
    expect(stderr).toContain('Both buildkite.yml and buildkite/pipeline.json are here')
  })

  it('refuses in one sentence what is no text, too large or not there', async () => {
    const folder = aFolder({ 'large.yml': 'x'.repeat(1024 * 1024 + 1), 'latin.yml': '' })
    writeFileSync(join(folder, 'latin.yml'), Buffer.from([0xe9, 0x0a]))
    expect(await main(['pipeline', 'lint', join(folder, 'large.yml')])).toBe(1)
    expect(await main(['pipeline', 'lint', join(folder, 'latin.yml')])).toBe(1)
    expect(await main(['pipeline', 'lint', join(folder, 'missing.yml')])).toBe(1)
    expect(await main(['pipeline', 'lint', '/dev/zero'])).toBe(1)
    expect(stderr.split('\n')).toEqual([
      `${join(folder, 'large.yml')} is larger than 1048576 bytes.`,
      `${join(folder, 'latin.yml')} is not UTF-8 text.`,
      `${join(folder, 'missing.yml')} cannot be read (ENOENT).`,
      '/dev/zero is larger than 1048576 bytes.',
      '',
    ])
  })
})
