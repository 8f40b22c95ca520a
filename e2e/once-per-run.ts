// What several test files need and takes long to make: the first file makes it, and the others wait for it.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { withLock } from '../tools/lock.mjs'

/** The path of a folder that `make` has filled. It is deleted at the end of the run. */
export async function oncePerRun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(inject('runFolder'), name)
  await withLock(
    `${folder}.lock`,
    async () => {
      if (existsSync(folder)) return
      const partial = `${folder}.part`
      rmSync(partial, { recursive: true, force: true })
      mkdirSync(partial)
      await make(partial)
      renameSync(partial, folder)
    },
    `making ${name} for this run`,
  )
  return folder
}
