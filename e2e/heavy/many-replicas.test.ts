import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { needing } from '../../testbed/src/needing.ts'
import { pgbouncerLacks } from '../../testbed/src/pgbouncer.ts'

const program = fileURLToPath(new URL('../../proofs/dist/faults/replicas-main.js', import.meta.url))

/** Three servers and two workers with 50 agents, behind a load balancer. Blobs are in the store of TEST_S3, or in our own. */
async function restartAll(args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => (said += bytes.toString()))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said }
}

describe('a rolling restart of three servers and two workers with 50 agents', () => {
  const whole =
    'No request failed, everything that was acknowledged is there exactly once, and every build has ended.'

  it('fails no request and loses nothing', async () => {
    const { code, said } = await restartAll([])
    expect(said).toContain(whole)
    expect(code).toBe(0)
  })

  needing('pgbouncer', pgbouncerLacks).it(
    'fails no request behind PgBouncer in transaction mode',
    async () => {
      const { code, said } = await restartAll(['--pgbouncer'])
      expect(said).toContain(whole)
      expect(code).toBe(0)
    },
  )
})
