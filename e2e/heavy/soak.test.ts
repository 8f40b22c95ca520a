import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { scratch } from '../../testbed/src/scratch.ts'
import { copyEmptyInstallation } from '../millrace.ts'

/** Runs a program of `npm run soak` with less load, on a prepared database. */
async function runProgram(
  name: string,
  args: readonly string[],
): Promise<{ code: number | null; said: string }> {
  const program = fileURLToPath(new URL(`../../proofs/dist/soak/${name}.js`, import.meta.url))
  const data = mkdtempSync(join(scratch(), 'millrace-e2e-'))
  copyEmptyInstallation(data)
  const child = spawn(process.execPath, [program, ...args, '--data', data], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => (said += bytes.toString()))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  return { code, said }
}

// Concurrent, because one mostly waits and the other computes.
it.concurrent('loses nothing acknowledged while agents and the server are killed', async () => {
  const plan = ['--seconds', '30', '--jobs', '90', '--agents', '9', '--kills', '4', '--restarts', '2']
  const { code, said } = await runProgram('main', plan)
  expect(said).toContain('Everything that was acknowledged is there, and every build has ended.')
  expect(code).toBe(0)
})

// `npm run soak` has a longer log and a bound of a quarter of it.
it.concurrent('stores and returns a long log with less memory than its size', async () => {
  const { code, said } = await runProgram('big-log-main', ['--mib', '192', '--bound', '192'])
  expect(said).toContain('The log went through whole.')
  expect(code).toBe(0)
})
