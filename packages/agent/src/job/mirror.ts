// Bare mirrors of repositories, which clones use with `--reference`. Objects are only added.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const mirrorName = (repository: string): string =>
  `${createHash('sha256').update(repository).digest('hex').slice(0, 32)}.git`

/** Created aside and renamed, so that readers never see a partial mirror. */
export async function updateMirror(mirrorsPath: string, repository: string): Promise<void> {
  const mirror = join(mirrorsPath, mirrorName(repository))
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' }
  const isThere = await stat(join(mirror, 'HEAD')).then(
    () => true,
    () => false,
  )
  if (isThere) {
    await run('git', ['--git-dir', mirror, 'fetch', '--no-auto-gc', 'origin', '+refs/*:refs/*'], { env })
    return
  }
  const unfinished = `${mirror}.new`
  await rm(unfinished, { recursive: true, force: true })
  await run('git', ['clone', '--mirror', '-c', 'gc.auto=0', '--', repository, unfinished], { env })
  await rename(unfinished, mirror)
}
