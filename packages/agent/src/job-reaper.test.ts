import { spawn } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { linuxLacks, needing } from '../../../testbed/src/needing.ts'
import { aCounterpart, aFolder } from '../test/agent.ts'
import { startJobReaper } from './job-reaper.ts'

const isLinux = linuxLacks === null
const onLinux = needing('linux', linuxLacks)

/** A busy machine takes long. */
const waiting = { timeout: 120_000 }

/** Ends with the test if nothing else ends it. */
function start(file: string, args: string[], options: SpawnOptions = {}): number {
  const { pid } = spawn(file, args, { detached: true, stdio: 'ignore', ...options })
  if (pid === undefined) throw new Error(`${file} did not start`)
  onTestFinished(() => kill(pid))
  return pid
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** A zombie has ended too. */
async function isAlive(pid: number): Promise<boolean> {
  if (!isLinux) {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z'
}

async function readPid(path: string): Promise<number> {
  const pid = await vi.waitFor(async () => {
    const text = await readFile(path, 'utf8')
    expect(text).toMatch(/^\d+\n$/)
    return Number(text)
  }, waiting)
  onTestFinished(() => kill(pid))
  return pid
}

const waitForEnd = (pid: number) => vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), waiting)

describe('the job reaper', () => {
  it('kills the watched groups that are left and deletes the watched folders', async () => {
    const folder = await aFolder()
    const [kept, left] = [join(folder, 'kept'), join(folder, 'left with a space')]
    await mkdir(kept)
    await mkdir(left)
    const reaper = startJobReaper()
    const groups = [1, 2, 3].map(() => start('sleep', ['600']))
    const [first = 0, second = 0, third = 0] = groups
    for (const group of groups) reaper.watch('group', group)
    for (const path of [kept, left]) reaper.watch('folder', path)
    reaper.release('group', second)
    reaper.release('folder', kept)
    await reaper.close()
    await waitForEnd(first)
    await waitForEnd(third)
    expect(await isAlive(second)).toBe(true)
    expect(await readdir(folder)).toEqual(['kept'])
  })

  onLinux.it('finds what left its group: by descent and by the id of its job', async () => {
    const folder = await aFolder()
    const id = randomUUID()
    const env = { PATH: process.env['PATH'], BUILDKITE_JOB_ID: id }
    const script = `
      setsid env -i sleep 600 & echo $! >bare
      (setsid sleep 600 & echo $! >orphan)
      wait`
    const leader = start('/bin/sh', ['-c', script], { cwd: folder, env })
    const bystander = start('sleep', ['600'], { env: { ...env, BUILDKITE_JOB_ID: randomUUID() } })
    const [bare, orphan] = [await readPid(join(folder, 'bare')), await readPid(join(folder, 'orphan'))]
    const reaper = startJobReaper()
    reaper.watch('group', leader)
    reaper.watch('job', id)
    await reaper.close()
    for (const pid of [leader, bare, orphan]) await waitForEnd(pid)
    expect(await isAlive(bystander)).toBe(true)
  })

  onLinux.it('is started again with all it must know when it was killed', async () => {
    const before = await reapersOfThisProcess()
    const reaper = startJobReaper()
    const [first, second] = [start('sleep', ['600']), start('sleep', ['600'])]
    reaper.watch('group', first)
    const pid = (await reapersOfThisProcess()).find((found) => !before.includes(found))
    if (pid === undefined) throw new Error('The reaper does not run.')
    process.kill(pid, 'SIGKILL')
    await vi.waitFor(async () => {
      reaper.watch('group', second)
      reaper.release('group', second)
      const now = (await reapersOfThisProcess()).filter((found) => !before.includes(found) && found !== pid)
      expect(now).toHaveLength(1)
    }, waiting)
    reaper.watch('group', second)
    await reaper.close()
    await waitForEnd(first)
    await waitForEnd(second)
  })
})

async function reapersOfThisProcess(): Promise<number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    names.map(async (name) => {
      const [line, stat] = await Promise.all(
        ['cmdline', 'stat'].map((file) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')),
      )
      const [, parent] = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ')
      return line?.endsWith('job-reaper\0') && Number(parent) === process.pid ? [Number(name)] : []
    }),
  )
  return found.flat()
}

const POOL = fileURLToPath(new URL('../dist/pool.js', import.meta.url))

describe('abuse case R21: an agent that is killed with SIGKILL', () => {
  onLinux.it('takes the processes and the private folder of its job with it', async () => {
    const server = await aCounterpart()
    const folder = await aFolder()
    const options = {
      endpoint: server.endpoint,
      token: 'registration-token',
      buildPath: join(folder, 'builds'),
      socketsPath: join(folder, 'sockets'),
      pingMode: 'poll-only',
    }
    const program = `
      const { startAgents } = await import(${JSON.stringify(POOL)})
      startAgents(${JSON.stringify(options)})`
    const agent = start(process.execPath, ['--input-type=module', '-e', program], {
      env: { PATH: process.env['PATH'], TMPDIR: folder },
    })
    server.offer({
      HERE: folder,
      BUILDKITE_COMMAND: `
        cd "$HERE"
        sleep 600 & echo $! >child
        setsid sleep 600 & echo $! >setsid
        (setsid nohup sleep 600 >/dev/null 2>&1 & echo $! >daemon)
        echo "$(dirname "$BUILDKITE_AGENT_JOB_API_SOCKET")" >private
        echo $$ >shell
        wait`,
    })
    const pids = []
    for (const name of ['shell', 'child', 'setsid', 'daemon']) pids.push(await readPid(join(folder, name)))
    for (const pid of pids) expect(await isAlive(pid)).toBe(true)
    const privateFolder = (await readFile(join(folder, 'private'), 'utf8')).trim()
    expect(existsSync(privateFolder)).toBe(true)
    process.kill(agent, 'SIGKILL')
    for (const pid of pids) await waitForEnd(pid)
    await vi.waitFor(() => expect(existsSync(privateFolder)).toBe(false), waiting)
  })
})
