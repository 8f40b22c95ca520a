// `npm test` itself, on small suites that the tests write.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { needing } from '../../testbed/src/needing.ts'

const runner = fileURLToPath(new URL('../test.mjs', import.meta.url))
const needingModule = fileURLToPath(new URL('../../testbed/src/needing.ts', import.meta.url))

const passes = "it('passes', () => {})"
const fails = "it('fails', () => { throw new Error('seen twice') })"

/** Fails the first time, by a file that it leaves behind. */
const unsteady = (mark: string) => `
  it('fails once', () => {
    if (existsSync('${mark}')) return
    writeFileSync('${mark}', '')
    throw new Error('seen once')
  })`

interface Outcome {
  code: number
  output: string
  lines: string[]
}

/** Writes test files into a folder of their own. */
function aSuite(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'suite-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const head =
    "import { existsSync, writeFileSync } from 'node:fs'\nimport { describe, expect, it } from 'vitest'\n"
  writeFileSync(join(folder, 'vitest.config.mjs'), `export default { root: '${folder}', test: {} }`)
  for (const [name, body] of Object.entries(files)) {
    writeFileSync(
      join(folder, `${name}.test.ts`),
      `${head}${body}\nvoid [existsSync, writeFileSync, describe, expect]`,
    )
  }
  return folder
}

const wordsFor = (suite: string) => [runner, `--config=${join(suite, 'vitest.config.mjs')}`]

const runSuite = (files: Record<string, string>, env: Record<string, string> = {}): Promise<Outcome> =>
  run(aSuite(files), [], env)

function run(suite: string, words: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const options = { env: { ...process.env, NO_COLOR: '1', ...env } }
  return new Promise((resolve) => {
    execFile(process.execPath, [...wordsFor(suite), ...words], options, (error, stdout, stderr) => {
      resolve({
        code: Number(error?.code ?? 0),
        output: stdout + stderr,
        lines: stdout.trimEnd().split('\n'),
      })
    })
  })
}

const aMark = () => join(mkdtempSync(join(tmpdir(), 'mark-')), 'mark')

describe('npm test', () => {
  it('ends with the numbers of passed and failed tests', async () => {
    const { code, lines } = await runSuite({ a: `${passes}\nit('passes too', () => {})`, b: passes })
    expect(lines.at(-1)).toBe('3 passed, 0 failed')
    expect(code).toBe(0)
  })

  it('reports a test that fails only the first time as unsteady, and passes', async () => {
    const { code, output, lines } = await runSuite({ a: passes, b: unsteady(aMark()) })
    expect(output).toMatch(
      /Unsteady.*\n.*b\.test\.ts: fails once: seen once \(load [\d.]+ on \d+ processors\)/,
    )
    expect(lines.at(-1)).toBe('2 passed, 0 failed')
    expect(code).toBe(0)
  })

  it('fails if a test fails twice', async () => {
    const { code, output, lines } = await runSuite({ a: passes, b: fails })
    expect(output).toMatch(/\nFailed\n.*b\.test\.ts: fails: seen twice\n/)
    expect(output).not.toContain('Unsteady')
    expect(lines.at(-1)).toBe('1 passed, 1 failed')
    expect(code).toBe(1)
  })

  it('fails if more than five files are unsteady', async () => {
    const six = Object.fromEntries(Array.from('abcdef', (name) => [name, unsteady(aMark())]))
    const { code, output, lines } = await runSuite(six)
    expect(output).toContain('6 files are unsteady; at most 5 may be.')
    expect(lines.at(-1)).toBe('6 passed, 1 failed')
    expect(code).toBe(1)
  })

  it('counts a file that does not load, and an error outside of the tests, as failures', async () => {
    const { code, lines } = await runSuite({
      a: "throw new Error('does not load')",
      b: "it('passes', () => {})\nsetTimeout(() => { throw new Error('later') }, 1)\nit('waits', () => new Promise((done) => setTimeout(done, 200)))",
      c: passes,
    })
    expect(lines.at(-1)).toBe('3 passed, 2 failed')
    expect(code).toBe(1)
  })

  it('runs a file again whose worker died', async () => {
    const mark = aMark()
    const dies = `it('dies once', () => {
      if (existsSync('${mark}')) return
      writeFileSync('${mark}', '')
      process.kill(process.pid, 'SIGKILL')
      return new Promise(() => {})
    })`
    const { code, output, lines } = await runSuite({ a: passes, b: dies })
    expect(output).toMatch(/Unsteady.*\n.*b\.test\.ts: the file: It did not end\./)
    expect(lines.at(-1)).toBe('2 passed, 0 failed')
    expect(code).toBe(0)
  })

  it('fails if no file matches', async () => {
    const { code, lines } = await runSuite({})
    expect(lines.at(-1)).toBe('0 passed, 1 failed')
    expect(code).toBe(1)
  })

  it('runs only the files that import a change', async () => {
    const suite = aSuite({ a: "import './one.ts'\nit('one', () => {})", b: passes })
    writeFileSync(join(suite, 'one.ts'), 'export {}')
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@localhost', ...words], { cwd: suite })
    git('init', '--quiet')
    git('add', '.')
    git('commit', '--quiet', '--message', 'All')
    const unchanged = await run(suite, ['--changed'])
    expect(unchanged.lines).toContain('No test file imports anything that has changed.')
    expect(unchanged).toMatchObject({ code: 0 })
    writeFileSync(join(suite, 'one.ts'), 'export const changed = true')
    const changed = await run(suite, ['--changed'])
    expect(changed.lines.at(-1)).toBe('1 passed, 0 failed')
    expect(changed.output).toContain('a.test.ts')
    expect(changed.output).not.toContain('b.test.ts')
  })

  it('counts skipped tests by what they need', async () => {
    const suite = {
      a: `import { needing } from '${needingModule}'
        const { describe: inContainers } = needing('containers', 'no engine (of any kind) is installed')
        inContainers('containers', () => { it('one', () => {}); it('two', () => {}) })
        it.skip('without a reason', () => {})
        ${passes}`,
    }
    const { code, output, lines } = await runSuite(suite)
    expect(output).toMatch(/\n +2 {2}needs containers: no engine \(of any kind\) is installed\n/)
    expect(output).toMatch(/\n +1 {2}no reason is given\n/)
    expect(lines.slice(-2)).toEqual(['3 skipped', '1 passed, 0 failed'])
    expect(code).toBe(0)

    const required = await runSuite(suite, { MILLRACE_TEST_REQUIRE: 'chromium,containers' })
    expect(required.output).toContain('MILLRACE_TEST_REQUIRE names containers, but no engine')
    expect(required.lines.at(-1)).toBe('1 passed, 1 failed')
    expect(required.code).toBe(1)
  })
})

const lacks = process.platform === 'linux' ? null : 'processes are found in /proc'
needing('linux', lacks).describe('an interrupted npm test', () => {
  it('leaves no process and no file behind, and counts what was done', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'own-'))
    mkdirSync(join(folder, 'tmp'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const pidFile = join(folder, 'pid')
    const suite = aSuite({
      a: passes,
      b: `import { spawn } from 'node:child_process'
        import { tmpdir } from 'node:os'
        it('hangs', async () => {
          const child = spawn('sleep', ['1000'], { cwd: tmpdir(), detached: true, env: {}, stdio: 'ignore' })
          writeFileSync(tmpdir() + '/left', '')
          writeFileSync('${pidFile}', String(child.pid))
          await new Promise((done) => setTimeout(done, 1_000_000))
        }, 2_000_000)`,
    })
    const child = spawn(process.execPath, [...wordsFor(suite), '--maxWorkers=2'], {
      env: { ...process.env, TMPDIR: join(folder, 'tmp'), MILLRACE_TEST_SCRATCH: join(folder, 'tmp') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output: string[] = []
    child.stdout.on('data', (chunk) => output.push(String(chunk)))
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '').toBe(true)
    await expect.poll(() => output.join('')).toContain('a.test.ts')
    child.kill('SIGTERM')
    expect(await ended).toBe(143)
    const lines = output.join('').trimEnd().split('\n')
    expect(lines).toContain('Interrupted: 1 of 2 files did not end.')
    expect(lines.at(-1)).toBe('1 passed, 0 failed')
    expect(isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false)
    expect(readdirSync(join(folder, 'tmp'))).toEqual([])
  })
})

/** A process that has ended and that nobody has waited for has no command line any more. */
function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}
