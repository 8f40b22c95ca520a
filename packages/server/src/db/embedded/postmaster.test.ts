import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { scratch } from '../../../../../testbed/src/scratch.ts'
import { stopOrphan } from './postmaster.ts'
import { PORT, socketFile } from './socket-dir.ts'

/** More than Linux ever gives out. */
const pid = 4_194_305

/** The status file of a postmaster whose process does not exist. */
function aCluster(socketDir?: string): string {
  const path = mkdtempSync(join(scratch(), 'millrace-postmaster-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const lines = [pid, path, 0, PORT, socketDir ?? path, '', '', 'ready']
  writeFileSync(join(path, 'postmaster.pid'), `${lines.join('\n')}\n`)
  return path
}

it('leaves the cluster to a postmaster that answers, from wherever it runs', async () => {
  const cluster = aCluster(inject('database').host)
  await expect(stopOrphan(cluster)).rejects.toThrow(
    `The database in ${cluster} is in use from another container or machine (as process ${pid} there): stop`,
  )
})

it('waits for the end of those who were left with the socket of a killed one, and do not answer', async () => {
  const cluster = aCluster()
  const listen = `require('net').createServer().listen(process.argv[1], () => console.log('listens'))`
  const child = spawn(process.execPath, ['-e', listen, socketFile(cluster)])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.kill('SIGSTOP')

  const stopping = stopOrphan(cluster)
  child.kill('SIGKILL')
  expect(await stopping).toBeUndefined()
})

it('has nothing to wait for where nobody listens', async () => {
  expect(await stopOrphan(aCluster())).toBeUndefined()
})
