import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findHolder, lockDataDir } from './data-lock.ts'
import { incarnationOf } from './processes.ts'

let dataDir = ''

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-lock-'))
})

afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

describe('the lock on a data directory', () => {
  it('names its holder until it is released, and leaves nothing behind', async () => {
    const lock = await lockDataDir(dataDir)
    expect(findHolder(dataDir)).toBe(process.pid)
    await expect(lockDataDir(dataDir)).rejects.toThrow(`is in use by process ${process.pid}`)
    lock.release()
    expect(findHolder(dataDir)).toBeUndefined()
    expect(existsSync(join(dataDir, 'lock'))).toBe(false)
  })

  it('refuses while another process holds it', async () => {
    claim(process.ppid, incarnationOf(process.ppid), 'held')
    await expect(lockDataDir(dataDir)).rejects.toThrow(`is in use by process ${process.ppid}`)
    expect(findHolder(dataDir)).toBe(process.ppid)
  })

  it('has no holder where a file is in the way of the data directory', () => {
    expect(findHolder(fileURLToPath(import.meta.url))).toBeUndefined()
  })

  it('is free again when its holder died', async () => {
    claim(2 ** 22 + 1, '12345', 'held')
    const lock = await lockDataDir(dataDir)
    expect(findHolder(dataDir)).toBe(process.pid)
    lock.release()
  })

  it('is not fooled by a new process with the number of a dead holder', async () => {
    claim(process.ppid, 'another-life', 'held')
    const lock = await lockDataDir(dataDir)
    expect(findHolder(dataDir)).toBe(process.pid)
    lock.release()
  })

  it('goes to the first by name of those that look at the same time', async () => {
    claim(1, incarnationOf(1), '')
    await expect(lockDataDir(dataDir)).rejects.toThrow('is in use by process 1:')
  })
})

function claim(pid: number, incarnation: string | undefined, content: string): void {
  mkdirSync(join(dataDir, 'lock'), { recursive: true })
  writeFileSync(join(dataDir, 'lock', `${pid}.${incarnation}`), content)
}
