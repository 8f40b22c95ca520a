import { mkdirSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../config/config.ts'
import { incarnationOf } from '../db/embedded/processes.ts'
import { withDatabase } from './with-database.ts'

it('waits while another command is about to take the data directory', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-command-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const lock = join(dataDir, 'lock')
  const rival = join(lock, `1.${incarnationOf(1)}`)
  mkdirSync(lock)
  writeFileSync(rival, '')
  const triedTwice = new Promise<void>((resolve) => {
    // A try makes at most three: it creates, closes and deletes its claim.
    let changes = 0
    const watcher = watch(lock, (_, name) => {
      if (name?.startsWith(`${process.pid}.`) === true && ++changes > 3) resolve()
    })
    onTestFinished(() => watcher.close())
  })
  const read = readConfig({ MILLRACE_DATA_DIR: dataDir })
  if (!read.ok) throw new Error(read.problems.join(' '))
  const answer = withDatabase(read.config, async ({ pool }) => {
    const { rows } = await pool.query<{ one: number }>('select 1 as one')
    return rows
  })
  await Promise.race([triedTwice, answer])
  rmSync(rival)
  expect(await answer).toEqual([{ one: 1 }])
})
