import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** The programs of `npm run soak`, with less to do. */
async function runProgram(
  name: string,
  args: readonly string[],
): Promise<{ code: number | null; said: string }> {
  const program = fileURLToPath(new URL(`../bench/dist/soak/${name}.js`, import.meta.url))
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => (said += bytes.toString()))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said }
}

// One mostly waits and the other computes, so side by side.
it.concurrent(
  'loses nothing that was acknowledged while agents and the server are killed',
  { timeout: 240_000 },
  async () => {
    const plan = ['--seconds', '30', '--jobs', '120', '--agents', '12', '--kills', '4', '--restarts', '2']
    const { code, said } = await runProgram('main', plan)
    expect(said).toContain('Everything that was acknowledged is there, and every build has ended.')
    expect(code).toBe(0)
  },
)

it.concurrent(
  'takes a long log in and gives it out again in little memory',
  { timeout: 240_000 },
  async () => {
    const { code, said } = await runProgram('big-log-main', ['--mib', '128', '--bound', '80'])
    expect(said).toContain('The log went through whole.')
    expect(code).toBe(0)
  },
)
