import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scratch } from '../../../../../testbed/src/scratch.ts'
import { copyBinaries, findBinaries, linkLibraries } from './binaries.ts'

let root = ''

beforeEach(() => {
  root = mkdtempSync(join(scratch(), 'millrace-binaries-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('the binaries of PostgreSQL', () => {
  it('are those of this platform', () => {
    const { postgres, major } = findBinaries()
    linkLibraries(findBinaries())
    expect(execFileSync(postgres, ['--version'], { encoding: 'utf8' })).toContain(`(PostgreSQL) ${major}.`)
  })

  it('are asked for by DATABASE_URL on a platform without them', () => {
    expect(() => findBinaries('plan9', 'mips')).toThrow(/for plan9-mips.*: set DATABASE_URL/)
  })

  it('run from a copy, whose links are made and whose older versions go', () => {
    const found = findBinaries()
    const fresh = { ...found, root: join(root, 'fresh') }
    cpSync(found.root, fresh.root, {
      recursive: true,
      filter: (path) => !/\.so(\.\d+)?$/.test(path) || isFile(path),
    })
    mkdirSync(join(root, 'postgresql-9.6'))
    const copy = copyBinaries(fresh, root)
    expect(execFileSync(copy.initdb, ['--version'], { encoding: 'utf8' })).toContain('initdb (PostgreSQL)')
    expect(readdirSync(root).sort()).toEqual(['fresh', `postgresql-${found.version}`])
    expect(statSync(copy.postgres).mode & 0o777).toBe(0o755)
    expect(copyBinaries(fresh, root)).toEqual(copy)
  })
})

function isFile(path: string): boolean {
  return statSync(path).size > 100
}
