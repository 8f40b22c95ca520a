import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'

const program = fileURLToPath(new URL('../../../bin/millrace.js', import.meta.url))

async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mr-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** An agent for an address where nobody listens. */
const start = (HOME: string, ...args: string[]) =>
  promisify(execFile)(
    process.execPath,
    [program, 'agent', 'start', '--token', 'none', '--endpoint', 'http://127.0.0.1:9', ...args],
    { env: { PATH: process.env['PATH'], HOME } },
  )

describe('abuse case R12: the build folder of millrace agent start', () => {
  it('is in the home, not where any user can make it first', async () => {
    const home = await aFolder()
    const { stdout } = await start(home, '--help')
    expect(stdout.replaceAll(/\s+/g, '')).toContain(join(home, '.local/state/millrace/builds'))
  })

  it.each(['open', 'link', 'file'])('is refused with a way out: %s', async (kind) => {
    const folder = await aFolder()
    const path = join(folder, 'builds')
    if (kind === 'open') {
      await mkdir(path)
      await chmod(path, 0o777)
    } else if (kind === 'link') await symlink(folder, path)
    else await writeFile(path, '')
    await expect(start(folder, '--build-path', path)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--build-path.'),
    })
  })
})
