// Reads the files in deploy/, and the names of all settings.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needing } from '../../testbed/src/needing.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export const readText = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The list of the server's settings, which is made from their declarations, and the agent's. */
const lists = ['docs/operating.md', 'packages/cli/src/commands/agent/start.ts']

/** The names of the variables that Millrace reads. */
export const knownSettings = (): Set<string> =>
  new Set(lists.flatMap((path) => readText(path).match(/\b(?:MILLRACE|AWS)_[A-Z0-9_]+\b/g) ?? []))

/** Names in a text that look like settings of ours and are none. */
export function unknownSettings(text: string): string[] {
  const known = knownSettings()
  const named = new Set(text.match(/\bMILLRACE_[A-Z0-9_]+\b/g))
  return [...named].filter((name) => !known.has(name))
}

/** The path of a program; null: it is not installed. */
export function findProgram(name: string, folders: readonly string[] = []): string | null {
  const path = [process.env['PATH'] ?? '', ...folders].join(delimiter)
  try {
    return execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', name], {
      env: { PATH: path },
      encoding: 'utf8',
    }).trim()
  } catch {
    return null
  }
}

/** Tests that need the program. */
export const withProgram = (program: string | null, name: string) =>
  needing('programs', program === null ? `${name} is not installed` : null)
