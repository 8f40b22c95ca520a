import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aDirectory, eventually, spawnMillrace, type Running } from '../millrace.ts'

describe('millrace run', () => {
  it('cancels the build on Ctrl-C, kills it on the second, and leaves no process', async () => {
    const { run, folder, pids } = await startStubborn()
    run.signal('SIGINT')
    await eventually('it cancels', async () => run.output().stdout.includes('Canceling the build.'))
    expect(pids.map(isAlive)).toEqual([true, true, true])
    run.signal('SIGINT')
    const { code, stdout } = await run.ended
    expect(code).toBe(1)
    expect(stdout).toMatch(/The build was canceled\.\n$/)
    expect(pids.map(isAlive)).toEqual([false, false, false])
    expect(privateFolders(folder)).toEqual([])
  })

  it('leaves no process even when it is killed itself', async () => {
    const { run, folder, pids } = await startStubborn()
    run.killGroup()
    await run.ended
    await eventually(
      'nothing is left',
      async () => !pids.some(isAlive) && privateFolders(folder).length === 0,
    )
    expect(pids.map(isAlive)).toEqual([false, false, false])
  })
})

/** A job that ignores SIGTERM, a background process, and a process in its own session. */
async function startStubborn(): Promise<{ run: Running; folder: string; pids: number[] }> {
  const folder = aDirectory()
  const script =
    'trap "" TERM; echo $$$$ > shell; sleep 600 & echo $$! > child; setsid sleep 600 & echo $$! > setsid; touch ready; while :; do wait; done'
  writeFileSync(
    join(folder, 'pipeline.yml'),
    `steps: [{command: ${JSON.stringify(`cd ${folder}; ${script}`)}}]`,
  )
  const run = spawnMillrace(['run', join(folder, 'pipeline.yml')], { TMPDIR: folder })
  await eventually('the job runs', async () => existsSync(join(folder, 'ready')))
  const pids = ['shell', 'child', 'setsid'].map((name) => Number(readFileSync(join(folder, name), 'utf8')))
  return { run, folder, pids }
}

const privateFolders = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith('millrace-run-'))

function isAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .startsWith('Z')
  } catch {
    return false
  }
}
