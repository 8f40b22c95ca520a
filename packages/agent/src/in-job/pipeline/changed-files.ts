// The changed files of a build, for `if_changed`: the difference to the merge base of its branch.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Io } from '../verb.ts'

export interface ChangeOptions {
  /** Empty: found from the build's variables. */
  base: string
  /** A file that lists the changed files; empty: git is asked. */
  listFile: string
}

const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** Null if git cannot determine it. */
export async function listChangedFiles(io: Io, { base, listFile }: ChangeOptions): Promise<string[] | null> {
  if (listFile !== '') {
    const text = await readFile(resolve(io.cwd, listFile), 'utf8').catch(() => null)
    return text === null ? null : text.split(/\r?\n/).filter((line) => line !== '')
  }
  const from = base === '' ? guessBase(io.env) : base
  const common = await git(io, ['merge-base', '--', from, 'HEAD'])
  const head = await git(io, ['rev-parse', 'HEAD'])
  if (common === null || head === null) return null
  const isBase = common.trim() === head.trim()
  // Git shows only the new name of a file that was moved, unless it is told to see a deletion and an addition.
  const names = isBase
    ? await git(io, ['show', '--first-parent', '--no-renames', '--name-only', '-z', '--format=', 'HEAD'])
    : await git(io, ['diff', '--no-renames', '--name-only', '-z', common.trim(), '--'])
  return names === null ? null : names.split('\0').filter((name) => name !== '')
}

/** The commit the build is for, spelled out; null when git does not know it. */
export async function resolveCommit(io: Io, commit: string): Promise<string | null> {
  if (commit.startsWith('-')) return null
  const full = await git(io, ['rev-parse', '--verify', '--quiet', `${commit}^{commit}`])
  return full === null ? null : full.trim()
}

function guessBase(env: Io['env']): string {
  for (const name of ['BUILDKITE_PULL_REQUEST_BASE_BRANCH', 'BUILDKITE_PIPELINE_DEFAULT_BRANCH']) {
    const branch = env[name] ?? ''
    if (branch !== '') return `origin/${branch}`
  }
  return 'origin/main'
}

async function git(io: Io, args: readonly string[]): Promise<string | null> {
  try {
    const env = Object.fromEntries(Object.entries(io.env).filter(([, value]) => value !== undefined))
    const { stdout } = await run('git', [...args], { cwd: io.cwd, env, maxBuffer: MAX_OUTPUT_BYTES })
    return stdout
  } catch {
    return null
  }
}
