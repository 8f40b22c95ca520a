// How bin/millrace.js chooses what to run, in a copy of the packages' folders that holds next to nothing.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

const main = (text: string) => `async function main() { console.log('${text}'); return 0 }`
const program = (text: string) => `export ${main(text)}`
const bundledProgram = (text: string) => `exports.main = ${main(text)}`

function compile(name: string, build: string): void {
  mkdirSync(join(packages, name, 'dist'), { recursive: true })
  writeFileSync(join(packages, name, 'dist', '.tsbuildinfo'), build)
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
    timeout: 30_000,
  })

describe('bin/millrace.js', () => {
  it('runs what was compiled while there is no bundle', () => {
    expect(run()).toBe('compiled\n')
  })

  it('runs the bundle of what was compiled last, and none of anything else', async () => {
    await bundle({ 'main.cjs': bundledProgram('bundled') })
    expect(run()).toBe('bundled\n')
    compile('engine', 'again')
    expect(run()).toBe('compiled\n')
    compile('engine', 'once')
    expect(run()).toBe('bundled\n')
  })

  it('keeps what V8 made of the bundle, also of parts that are loaded late, and does without', async () => {
    const folder = await bundle({
      'main.cjs': `exports.main = async () => { console.log(require('./part.cjs').text()); return 0 }`,
      'part.cjs': `exports.text = () => 'a part'`,
    })
    expect(run()).toBe('a part\n')
    const code = join(folder, 'code')
    const kept = readdirSync(code).toSorted()
    expect(kept).toEqual([expect.stringMatching(/^main\.cjs-/), expect.stringMatching(/^part\.cjs-/)])
    const part = join(code, kept[1] ?? '')
    const made = readFileSync(part)
    expect(run()).toBe('a part\n')
    writeFileSync(part, 'spoilt')
    expect(run()).toBe('a part\n')
    expect(readFileSync(part)).toHaveLength(made.length)
    // As long as before, which is all that V8 would look at.
    writeFileSync(join(folder, 'part.cjs'), `exports.text = () => 'a bird'`)
    expect(run()).toBe('a bird\n')
    rmSync(code, { recursive: true })
    writeFileSync(code, 'no folder')
    expect(run()).toBe('a bird\n')
  })

  it('reads no source map for a stack trace', async () => {
    const text = "exports.main = async function main() { console.log(new Error('seen').stack); return 0 }"
    const folder = await bundle({ 'main.cjs': text })
    // Opening it blocks for ever, so the test would time out.
    execFileSync('mkfifo', [join(folder, 'main.cjs.map')])
    expect(run()).toMatch(/^Error: seen\n {4}at main \(file:\S+\/main\.cjs:1:\d+\)/)
  })
})
