import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { prepareDataDir } from './data-dir.ts'
import { StartupError } from './startup-error.ts'

let root = ''

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'millrace-data-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('prepareDataDir', () => {
  it('locks the directory it makes, and none of the parents it makes', () => {
    mkdirSync(join(root, 'like-a-parent'))
    prepareDataDir(join(root, 'a/b/data'))
    expect(modeOf('a/b/data')).toBe(0o700)
    expect(modeOf('a/b')).toBe(modeOf('like-a-parent'))
  })

  it('leaves the mode of a directory that was there', () => {
    mkdirSync(join(root, 'data'), { mode: 0o750 })
    prepareDataDir(join(root, 'data')).undo()
    expect(modeOf('data')).toBe(0o750)
  })

  it('takes back a directory it made when asked to', () => {
    prepareDataDir(join(root, 'data')).undo()
    expect(existsSync(join(root, 'data'))).toBe(false)
  })

  it('says what to do when a file is in the way', () => {
    writeFileSync(join(root, 'file'), '')
    for (const path of ['file', 'file/data']) {
      expect(() => prepareDataDir(join(root, path))).toThrow(StartupError)
      expect(() => prepareDataDir(join(root, path))).toThrow(
        /a file is in its way: move the file, or set MILLRACE_DATA_DIR/,
      )
    }
  })

  it('says what to do when it cannot write', () => {
    const path = process.geteuid?.() === 0 ? '/proc/millrace' : join(root, 'locked', 'data')
    mkdirSync(join(root, 'locked'), { mode: 0o500 })
    expect(() => prepareDataDir(path)).toThrow(
      /is not writable \(E[A-Z]+\): give this user access, or set MILLRACE_DATA_DIR/,
    )
  })
})

function modeOf(path: string): number {
  return statSync(join(root, path)).mode & 0o777
}
