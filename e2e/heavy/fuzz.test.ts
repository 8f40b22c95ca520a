import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** About ten requests to every operation, so that each has succeeded and been refused. */
const plan = ['--seed', '1', '--requests', '3900', '--concurrency', '8']

it('answers generated and mutated requests as documented', async () => {
  const program = fileURLToPath(new URL('../../proofs/dist/fuzz/main.js', import.meta.url))
  const child = spawn(process.execPath, [program, ...plan], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => (said += bytes.toString()))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  // The table of operations is long, and the verdict follows it.
  expect(said.slice(-4000)).toContain('every answer is as documented.')
  expect(code).toBe(0)
})
