import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const program = fileURLToPath(new URL('../../proofs/dist/faults/main.js', import.meta.url))

// The machine may be busy, so the times of recovery are not judged here.
const plan = ['--seed', '7', '--no-aims', '--only', 'kill-api,kill-worker,database-immediate,database-cut']

it('several processes lose nothing acknowledged while servers and the database fail', async () => {
  const child = spawn(process.execPath, [program, ...plan], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => (said += bytes.toString()))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  expect(said).toContain('Everything that was acknowledged is there exactly once, and every build has ended.')
  expect(code).toBe(0)
})
