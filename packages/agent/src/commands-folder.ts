// The folder that every job has in its PATH: the `buildkite-agent` command as scripts know it.

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageFolder } from './package-folder.ts'

interface CommandsFolder {
  path: string
  remove(): Promise<void>
}

export async function makeCommandsFolder(nodePath: string): Promise<CommandsFolder> {
  const path = await mkdtemp(join(tmpdir(), 'mr-bin-'))
  const command = join(path, 'buildkite-agent')
  await writeFile(command, `#!/bin/sh\nexec ${quote(nodePath)} ${quote(program)} "$@"\n`)
  await chmod(command, 0o755)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

const program = join(packageFolder, 'dist', 'in-job', 'program.js')

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
