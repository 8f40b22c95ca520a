// The folder that every job has in its PATH: the `buildkite-agent` command as scripts know it, and `millrace test-result`.

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
  const inJob = `exec ${quote(nodePath)} ${quote(program)} "$@"\n`
  await writeCommand(join(path, 'buildkite-agent'), inJob)
  await writeCommand(
    join(path, 'millrace'),
    `if [ "$1" = test-result ]; then\n${inJob}fi\n${runOther(path, 'millrace')}`,
  )
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

async function writeCommand(file: string, script: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${script}`)
  await chmod(file, 0o755)
}

/** The command of the same name in another folder of the PATH, with all its commands. */
const runOther = (path: string, name: string): string => `while :; do
  case ":$PATH:" in
    *:${quote(path)}:*) PATH=":$PATH:" PATH="\${PATH%%:${path}:*}:\${PATH#*:${path}:}" ;;
    *) break ;;
  esac
  PATH="\${PATH#:}" PATH="\${PATH%:}"
done
export PATH
exec ${name} "$@"
`

const program = join(packageFolder, 'dist', 'in-job', 'program.js')

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
