// Runs the shell blocks of a page, and compares their output with the one shown below them.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { needing } from '../testbed/src/needing.ts'
import { missingLines, type RunBlock } from './markdown-blocks.ts'
import { launch, program, type Settings } from './millrace.ts'

const missing = ['bash', 'curl', 'git'].filter((name) => !isInstalled(name))

/** Tests that run blocks. */
export const withShell = needing(
  'programs',
  missing.length === 0 ? null : `these are not installed: ${missing.join(', ')}`,
)

interface ShellOptions {
  /** The commands run here, and it stands for /tmp. */
  folder: string
  settings: Settings
  before?: readonly string[]
  between?: string
}

export interface Ran {
  /** One for each block that began. */
  outputs: string[]
  code: number | null
}

const MARKER = '@@ block'

/** Runs the blocks one after the other in one shell, until one fails. */
export async function runInShell(
  blocks: readonly RunBlock[],
  { folder, settings, before = [], between = ':' }: ShellOptions,
): Promise<Ran> {
  const script = [
    'set -euo pipefail',
    'exec 2>&1',
    `cd '${folder}'`,
    ...before,
    ...blocks.flatMap(({ text }) => [
      `printf '\\n${MARKER}\\n'`,
      text.replaceAll('/tmp/', `${folder}/`),
      between,
    ]),
  ]
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'millrace'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  writeFileSync(join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n')
  for (const name of ['millrace', 'npx']) chmodSync(join(bin, name), 0o755)
  writeFileSync(join(folder, 'script'), script.join('\n'))
  const shell = launch('bash', [join(folder, 'script')], {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
    ...settings,
  })
  const { code, stdout } = await shell.ended
  return { code, outputs: stdout.split(`\n${MARKER}\n`).slice(1) }
}

/** Blocks that failed, did not run, or printed something else than the page says. */
export function problemsOf(blocks: readonly RunBlock[], { outputs, code }: Ran): object[] {
  return blocks.flatMap(({ output, line }, index): object[] => {
    const seen = outputs[index]
    if (seen === undefined) return [{ line, problem: 'It did not run.' }]
    if (code !== 0 && index === outputs.length - 1) return [{ line, problem: `It ended with ${code}.`, seen }]
    const lacks = missingLines(output ?? '', seen)
    return lacks.length === 0 ? [] : [{ line, lacks, seen }]
  })
}

function isInstalled(name: string): boolean {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
