// The start of a fresh clone builds first. The server must not keep the memory of the build.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { aDirectory, eventually, launch, startMs, stop } from './millrace.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A compiled copy of this checkout, with linked libraries and without a bundle. */
function aCheckout(): string {
  const checkout = join(aDirectory(), 'checkout')
  mkdirSync(join(checkout, 'node_modules'), { recursive: true })
  const isWanted = (path: string) => !['node_modules', 'bundled', '.npm-cache'].includes(basename(path))
  const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.base.json']
  const parts = [...files, 'packages', 'tools', 'testbed', 'bench', 'proofs', 'e2e']
  for (const name of parts) {
    cpSync(join(root, name), join(checkout, name), {
      recursive: true,
      filter: isWanted,
      preserveTimestamps: true,
    })
  }
  const modules = join(root, 'node_modules')
  for (const name of readdirSync(modules)) {
    if (name === '@millrace') continue
    const [from, to] = [join(modules, name), join(checkout, 'node_modules', name)]
    if (name.startsWith('.')) cpSync(from, to, { recursive: true, verbatimSymlinks: true })
    else symlinkSync(from, to)
  }
  mkdirSync(join(checkout, 'node_modules', '@millrace'))
  for (const name of ['engine', 'protocol', 'agent', 'server', 'cli', 'web']) {
    symlinkSync(join(checkout, 'packages', name), join(checkout, 'node_modules', '@millrace', name))
    const own = join('packages', name, 'node_modules')
    if (existsSync(join(root, own))) symlinkSync(join(root, own), join(checkout, own))
  }
  return checkout
}

it.runIf(process.platform === 'linux')('a first start leaves a server of less than 200 MB', async () => {
  const checkout = aCheckout()
  const settings = { MILLRACE_DATA_DIR: join(aDirectory(), 'data'), PORT: '0' }
  const start = [join(checkout, 'tools', 'start.mjs'), '--json']
  const server = launch(process.execPath, start, settings)
  let isOver = false
  void server.ended.then(() => (isOver = true))
  const hasStarted = async () => {
    if (isOver) throw new Error(`The start ended: ${server.output().stderr}`)
    return server.output().stdout.includes('\n')
  }
  await eventually('the server says that it runs', hasStarted, 2 * startMs)
  const { pid } = JSON.parse(server.output().stdout) as { pid: number }
  expect(readdirSync(join(checkout, 'packages', 'cli', 'dist', 'bundled'))).toHaveLength(1)
  const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  expect(Number(kb) / 1024).toBeLessThan(200)
  expect((await stop(server)).code).toBe(0)
})
