// How bin/millrace.js chooses between bundle and compiled program, in an almost empty copy of the packages' folders.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const bin = fileURLToPath(new URL('../bin', import.meta.url))
let packages = ''

beforeEach(async () => {
  packages = mkdtempSync(join(tmpdir(), 'millrace-packages-'))
  cpSync(bin, join(packages, 'cli', 'bin'), { recursive: true })
  writeFileSync(join(packages, 'cli', 'package.json'), '{"type": "module"}')
  for (const name of ['engine', 'protocol', 'agent', 'server', 'cli']) compile(name, 'once')
  writeFileSync(join(packages, 'cli', 'dist', 'main.js'), program('compiled'))
})

afterEach(() => rmSync(packages, { recursive: true }))

const program = (text: string) => `export async function main() { console.log('${text}'); return 0 }`

function compile(name: string, build: string): void {
  mkdirSync(join(packages, name, 'dist'), { recursive: true })
  writeFileSync(join(packages, name, 'dist', '.sources'), build)
}

async function bundle(files: Record<string, string>): Promise<string> {
  const place = pathToFileURL(join(packages, 'cli', 'bin', 'bundle.js')).href
  const { currentBundle } = (await import(place)) as { currentBundle(): URL }
  const folder = fileURLToPath(currentBundle())
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const run = () =>
  execFileSync(process.execPath, [join(packages, 'cli', 'bin', 'millrace.js')], {
    encoding: 'utf8',
    timeout: 240_000,
  })

describe('bin/millrace.js', () => {
  it('runs the compiled program while there is no bundle', () => {
    expect(run()).toBe('compiled\n')
  })

  it('runs a bundle only if it was made of the compiled program as it is now', async () => {
    await bundle({ 'main.js': program('bundled') })
    expect(run()).toBe('bundled\n')
    compile('engine', 'again')
    expect(run()).toBe('compiled\n')
    compile('engine', 'once')
    expect(run()).toBe('bundled\n')
  })

  it('reads no source map for a stack trace', async () => {
    const text = "export async function main() { console.log(new Error('seen').stack); return 0 }"
    const folder = await bundle({ 'main.js': text })
    // Opening it blocks for ever, so the test would time out.
    execFileSync('mkfifo', [join(folder, 'main.js.map')])
    expect(run()).toMatch(/^Error: seen\n {4}at main \(file:\S+\/main\.js:1:\d+\)/)
  })
})
