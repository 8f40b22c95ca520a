import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder, isAlive, readPid, run, startRun, until, type EndedRun } from '../../test/running.ts'

describe('a job that runs out of time', () => {
  it('is asked to end', async () => {
    const { state, jobs } = await runOutOfTime('touch ready; sleep 600')
    expect(state).toBe('failed')
    expect(jobs).toMatchObject([{ state: 'timed_out', exit_status: 143 }])
  })

  it('is killed when it does not', async () => {
    const { jobs, folder } = await runOutOfTime(
      'trap "" TERM; echo $$ > shell; sleep 600 & echo $! > child; touch ready; while :; do wait; done',
      50,
    )
    expect(jobs).toMatchObject([{ state: 'timed_out', exit_status: 137 }])
    expect([readPid(folder, 'shell'), readPid(folder, 'child')].map(isAlive)).toEqual([false, false])
  })

  it('passes when it ends well after all', async () => {
    const { state } = await runOutOfTime('trap "exit 0" TERM; touch ready; while :; do sleep 0.01; done')
    expect(state).toBe('passed')
  })

  it('has as many minutes as its step says', async () => {
    const minutes: number[] = []
    const afterMinutes = (given: number): (() => void) => {
      minutes.push(given)
      return () => {}
    }
    await run(`${steps('true', 'timeout_in_minutes: 7')}\n  - {command: "true"}`, { afterMinutes })
    expect(minutes).toEqual([7])
  })
})

describe('what a job leaves behind', () => {
  it('is gone when the job has ended', async () => {
    const { state, folder } = await run(steps('sleep 600 > /dev/null 2>&1 & echo $! > child; exit 0'))
    expect(state).toBe('passed')
    expect(isAlive(readPid(folder, 'child'))).toBe(false)
  })

  it('may end in its own way first', async () => {
    const daemon = `trap 'echo cleaned > cleaned; exit' TERM; touch ready; while :; do sleep 0.01; done`
    const { state, folder } = await run(
      steps(`sh -c '${daemon.replaceAll("'", '"')}' & while [ ! -e ready ]; do sleep 0.01; done`),
    )
    expect(state).toBe('passed')
    expect(existsSync(join(folder, 'cleaned'))).toBe(true)
  })

  it('holds nothing up when it has moved to a session of its own', async () => {
    const daemon = `
      const { pid } = require('child_process').spawn('sleep', ['600'], { detached: true, stdio: 'inherit' })
      require('fs').writeFileSync('daemon', String(pid))
      process.exit()
    `
    const folder = aFolder({ 'daemon.cjs': daemon })
    expect((await run(steps(`"${process.execPath}" daemon.cjs`), { folder })).state).toBe('passed')
    process.kill(readPid(folder, 'daemon'), 'SIGKILL')
  })
})

describe('an interrupt', () => {
  it('cancels the build and lets jobs end in their own way', async () => {
    // The child tells its number when it is a program of its own: before, it has the trap of the shell, and a signal is lost.
    const command = `trap "echo bye; exit 5" TERM; echo $$ > shell; sh -c 'echo $$ > child; exec sleep 600' & wait`
    const { folder, terminal, result } = startRun(
      `${steps(command)}\n  - wait\n  - {label: after, command: "true"}`,
    )
    await until(() => hasPid(folder, 'child'))
    terminal.interrupt()
    expect(await result).toMatchObject({
      ok: true,
      report: { state: 'canceled', jobs: [{ state: 'canceled', exit_status: 5 }, { state: 'canceled' }] },
    })
    expect(terminal.lines).toContain('bye')
    expect([readPid(folder, 'shell'), readPid(folder, 'child')].map(isAlive)).toEqual([false, false])
  })

  it('kills at once the second time', async () => {
    const command = `trap "" TERM; echo $$ > shell; sleep 600 & echo $! > child; while :; do wait; done`
    const { folder, terminal, result } = startRun(steps(command))
    await until(() => hasPid(folder, 'child'))
    terminal.interrupt()
    expect([readPid(folder, 'shell'), readPid(folder, 'child')].map(isAlive)).toEqual([true, true])
    terminal.interrupt()
    expect(await result).toMatchObject({ ok: true, report: { state: 'canceled' } })
    expect([readPid(folder, 'shell'), readPid(folder, 'child')].map(isAlive)).toEqual([false, false])
  })
})

/** The shell creates the file before it writes the number. */
const hasPid = (folder: string, name: string): boolean =>
  existsSync(join(folder, name)) && readFileSync(join(folder, name), 'utf8').endsWith('\n')

/** The time is over as soon as the script has made the file `ready`. A script that ends by itself may take long on a busy machine. */
async function runOutOfTime(script: string, graceMs = 60_000): Promise<EndedRun> {
  const folder = aFolder()
  return run(steps(script, 'timeout_in_minutes: 1'), {
    folder,
    graceMs,
    afterMinutes(_minutes, timeOut) {
      void until(() => existsSync(join(folder, 'ready'))).then(timeOut)
      return () => {}
    },
  })
}

/** One step with this script, whose `$` stay as they are. */
function steps(script: string, attributes = ''): string {
  return `steps:\n  - {command: ${JSON.stringify(script.replaceAll('$', '$$$$'))}${attributes === '' ? '' : `, ${attributes}`}}`
}
