/*
 * Created once for a test run: a data directory with a migrated, empty database, which is ten times faster to copy than to
 * create; a running server for tests that do not stop or change it; and a folder for what tests make once.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { folderForJobs, scratch } from '../testbed/src/scratch.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Deleted after the run. */
    runFolder: string
    emptyInstallation: string
    sharedServer: { dataDir: string; pid: number; url: string; token: string; database: string }
  }
}

const program =
  process.env['MILLRACE_TEST_PROGRAM'] ??
  fileURLToPath(new URL('../packages/cli/bin/millrace.js', import.meta.url))

const libraries = fileURLToPath(new URL('../node_modules', import.meta.url))

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(scratch(), 'millrace-e2e-'))
  // The users of jobs must be able to enter it.
  chmodSync(folder, 0o755)
  project.provide('runFolder', folder)
  const empty = join(folder, 'empty')
  execFileSync(process.execPath, [program, 'migrate'], { env: settings(empty), stdio: 'pipe' })
  project.provide('emptyInstallation', empty)
  const dataDir = join(folder, 'shared')
  cpSync(empty, dataDir, { recursive: true })
  const server = await startShared(dataDir)
  project.provide('sharedServer', { dataDir, ...server.said })
  return async () => {
    await server.stop()
    // Browsers of workers may still be ending.
    rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
  }
}

async function startShared(dataDir: string) {
  const child = spawn(process.execPath, [program, 'up', '--json'], {
    env: {
      ...settings(dataDir),
      PORT: '0',
      // Some jobs run tests with the libraries of this clone.
      MILLRACE_JOB_FOLDERS: `${folderForJobs()}:rw,${libraries}`,
      // Tests have it call addresses of this machine.
      MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8',
      // Tests take the place of agents, without heartbeats.
      MILLRACE_AGENT_LOST_SECONDS: '3600',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const first = await Promise.race([once(lines, 'line'), ended])
  if (child.exitCode !== null) throw new Error('The shared server ended: its reason is above.')
  const started = JSON.parse(String(first[0])) as {
    pid: number
    url: string
    database: string
    first: { token: string } | null
  }
  const { pid, url, database } = started
  const end = () => void child.kill('SIGTERM')
  // Nothing else runs when the test run is interrupted.
  process.once('exit', end)
  const stop = async () => {
    process.off('exit', end)
    end()
    const [code] = await ended
    if (code !== 0) throw new Error(`The shared server stopped with ${String(code)}.`)
  }
  return { said: { pid, url, database, token: started.first?.token ?? '' }, stop }
}

const settings = (dataDir: string) => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  MILLRACE_DATA_DIR: dataDir,
})
