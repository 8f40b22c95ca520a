// The start of a fresh clone builds first. The server must not keep what the build has loaded; `npm run bench -- start` measures
// its memory.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { copyCheckout } from '../testbed/src/checkout.ts'
import { linuxLacks, needing } from '../testbed/src/needing.ts'
import { aDirectory, eventually, launch, startMs, stop } from './millrace.ts'

needing('linux', linuxLacks).it('a first start leaves a server without the build tools', async () => {
  const checkout = join(aDirectory(), 'checkout')
  copyCheckout(checkout)
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
  const mapped = readFileSync(`/proc/${pid}/maps`, 'utf8')
  expect(mapped).toContain(process.execPath)
  // The bundler's native code, which a process keeps once it has loaded it.
  expect(mapped).not.toMatch(/\/node_modules\/@?rolldown\//)
  expect((await stop(server)).code).toBe(0)
})
