// Finds the files that match patterns, below the folder each pattern starts from. Links to folders are not followed. A
// link to a file is used only if the file is below that folder too.

import { readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { compileGlob } from '@millrace/engine/globs.ts'

export interface FoundFile {
  /** As the artifact will be called, with `/`. */
  path: string
  absolutePath: string
}

/** Patterns are separated by semicolons or line ends. Each file once, in the order of their paths. */
export async function findFiles(patterns: string, folder: string): Promise<FoundFile[]> {
  const found = new Map<string, FoundFile>()
  for (const pattern of patterns.split(/[;\n]/).map((text) => text.trim())) {
    if (pattern === '') continue
    for (const absolutePath of await filesOf(pattern, folder)) {
      const path = artifactPath(absolutePath, folder)
      found.set(path, { path, absolutePath })
    }
  }
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

async function filesOf(pattern: string, folder: string): Promise<string[]> {
  const { start, rest } = splitPattern(pattern)
  const matches = compileGlob(rest)
  if (!matches) throw new Error(`the pattern "${pattern}" is malformed`)
  const from = resolve(folder, start)
  const root = isBelow(from, folder) ? folder : from
  const realRoot = await realpath(root).catch(() => null)
  if (realRoot === null) return []
  if (!isBelow(await realpath(from).catch(() => ''), realRoot)) return []
  const files: string[] = []
  for await (const path of walk(from, '', realRoot)) if (matches(path)) files.push(join(from, path))
  return files
}

/** The folders a pattern names plainly, and what is left to match below them. */
function splitPattern(pattern: string): { start: string; rest: string } {
  const segments = pattern.replace(/^(\.\/)+/, '').split('/')
  const first = segments.findIndex((segment) => /[*?[\]{}\\]/.test(segment))
  const cut = first < 0 ? segments.length - 1 : first
  const start = segments.slice(0, cut).join('/')
  return { start: start === '' && isAbsolute(pattern) ? '/' : start, rest: segments.slice(cut).join('/') }
}

async function* walk(top: string, below: string, realRoot: string): AsyncGenerator<string> {
  // Skip a folder that cannot be read or was deleted.
  const entries = await readdir(join(top, below), { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) yield* walk(top, path, realRoot)
    else if (entry.isFile()) yield path
    else if (entry.isSymbolicLink() && (await isFileBelow(join(top, path), realRoot))) yield path
  }
}

async function isFileBelow(link: string, realRoot: string): Promise<boolean> {
  const target = await realpath(link).catch(() => null)
  if (target === null || !isBelow(target, realRoot)) return false
  return (await stat(target)).isFile()
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

/** Files outside the folder are called by their whole path. */
function artifactPath(absolutePath: string, folder: string): string {
  const path = relative(folder, absolutePath)
  const named = path.startsWith('..') || isAbsolute(path) ? absolutePath.slice(1) : path
  return named.split(sep).join('/')
}
