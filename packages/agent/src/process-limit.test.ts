import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { needing } from '../../../testbed/src/needing.ts'
import { aCounterpart, aFolder, anAgent } from '../test/agent.ts'
import type { Counterpart } from '../test/counterpart.ts'
import { openProcessCount } from './process-count.ts'

const program = fileURLToPath(new URL('../dist/hosted.js', import.meta.url))

/** Namespaces of its own, as a container has them: whatever goes wrong, it goes wrong in there. */
const unshare = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
const tried = spawnSync('unshare', [...unshare, 'mount', '-t', 'tmpfs', 'none', '/var/lib'])
const inNamespaces = needing(
  'namespaces',
  tried.status === 0 ? null : (tried.error?.message ?? String(tried.stderr).trim()),
)

/** The program of hosted agents, started by a script that has it as its arguments. */
function startHosted(server: Counterpart, most: number, script: string) {
  const whole = `mount -t tmpfs none /var/lib && ${script}`
  const child = spawn('unshare', [...unshare, 'sh', '-c', whole, 'sh', process.execPath, program], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      MILLRACE_RUNNER_ENDPOINT: server.endpoint,
      MILLRACE_RUNNER_TOKEN: 'registration-token',
      MILLRACE_RUNNER_NAME: 'hosted',
      MILLRACE_RUNNER_PROCESSES: String(most),
    },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = text(child.stdout)
  return {
    ended: once(child, 'exit').then(async ([status]) => ({ status: status as number, said: await said })),
  }
}

/** The processes of a job in any namespace. Zombies have no environment and are not included. */
async function countLiving(jobId: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const environments = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')),
  )
  return environments.filter((one) => one.includes(`BUILDKITE_JOB_ID=${jobId}\0`)).length
}

/** Twice as many each time, in sessions of their own; without a limit 2 ** times are left, waiting. */
const bomb = (times: number) =>
  `bomb() { if [ "$1" -eq 0 ]; then exec sleep 600; fi; bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; }
export -f bomb; echo begun; setsid --wait bash -c 'bomb ${times}'`

inNamespaces.describe('the first process of a container', () => {
  it('ends all others when there are too many, and the job fails', async () => {
    const server = await aCounterpart()
    const { ended } = startHosted(server, 100, 'exec "$@"')
    const id = server.offer({ BUILDKITE_COMMAND: bomb(9) })
    // The end is not taken while anybody lives, which keeps the container as it is. Whoever was killed and has not come
    // to its end yet, for want of a processor, still shows.
    server.answer(new RegExp(`jobs/${id}/finish`), (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      const nobodyLives = async () => (await countLiving(id)) === 0
      void vi.waitUntil(nobodyLives, { timeout: 120_000 }).then(() => response.end('{}'))
      return null
    })
    const report = await server.finished(id)
    expect(report).toMatchObject({ exit_status: '255', chunks_failed_count: 0 })
    expect(report).not.toHaveProperty('signal')
    expect(server.log(id)).toContain('\nbegun\n')
    const [line = ''] = server.log(id).trimEnd().split('\n').slice(-1)
    expect(line).toContain('Error: There were more than 100 processes and threads at once')
    expect(await ended).toMatchObject({ status: 0 })
  })

  it('counts threads', async () => {
    const server = await aCounterpart()
    startHosted(server, 60, 'exec "$@"')
    const idle = `'${process.execPath}' -e 'setTimeout(() => {}, 600000)'`
    const id = server.offer({ BUILDKITE_COMMAND: `for n in 1 2 3 4 5 6 7 8 9 10; do ${idle} & done; wait` })
    expect(await server.finished(id)).toMatchObject({ exit_status: '255' })
    expect(server.log(id)).toContain('more than 60 processes and threads')
  })

  it('lets a job be that stays within the limit', async () => {
    const server = await aCounterpart()
    const { ended } = startHosted(server, 100, 'exec "$@"')
    const id = server.offer({ BUILDKITE_COMMAND: 'for n in 1 2 3 4 5 6 7 8; do sleep 1 & done; wait; nice' })
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    // The counting thread has a higher priority where possible.
    expect(server.log(id)).toContain(`\n${Math.min(getPriority() + 10, 19)}\n`)
    expect(await ended).toMatchObject({ status: 0 })
  })
})

inNamespaces.describe('any other process', () => {
  it('ends its job when there are too many, and nothing that is not of the job', async () => {
    const server = await aCounterpart()
    const { ended } = startHosted(server, 60, 'sleep 600 & other=$!; "$@"; kill $other && echo lived')
    const id = server.offer({ BUILDKITE_COMMAND: 'for n in $(seq 80); do sleep 600 & done; wait' })
    expect(await server.finished(id)).toMatchObject({ exit_status: '255' })
    expect(server.log(id)).toContain('more than 60 processes and threads')
    expect(await ended).toEqual({ status: 0, said: 'lived\n' })
  })
})

describe('a job in a container with too many processes', () => {
  it('fails although its command had passed, and no hook runs any more', async () => {
    const exceeding = new AbortController()
    const { server, hooks } = await anAgent({
      processLimit: {
        isExceeded: () => exceeding.signal.aborted,
        exceeded: exceeding.signal,
        reason: 'There were too many.',
      },
    })
    await writeFile(join(hooks, 'post-command'), 'echo hooked; sleep 600', { mode: 0o755 })
    await writeFile(join(hooks, 'pre-exit'), 'echo never', { mode: 0o755 })
    const id = server.offer({ BUILDKITE_COMMAND: 'echo done' })
    await server.logHas(id, 'hooked')
    exceeding.abort()
    expect(await server.finished(id)).toMatchObject({ exit_status: '255' })
    expect(server.log(id)).toContain('\ndone\n')
    expect(server.log(id)).not.toContain('never')
    expect(server.log(id).trimEnd()).toMatch(/\n.*Error: There were too many\..*$/)
  })
})

describe('the number of processes and threads', () => {
  const aCgroup = async (name: string, pids: string) => {
    const root = await aFolder()
    await mkdir(join(root, name), { recursive: true })
    await writeFile(join(root, name, 'cgroup.procs'), pids)
    await writeFile(join(root, name, 'pids.current'), '1234567\n')
    return { root, write: (count: string) => writeFile(join(root, name, 'pids.current'), count) }
  }

  it.each(['', 'pids'])('is what the kernel counts, where that is in "%s"', async (name) => {
    const { root, write } = await aCgroup(name, `${process.pid}\n${process.ppid}\n`)
    const count = openProcessCount(root)
    expect(count()).toBe(1_234_567)
    await write('17\n')
    expect(count()).toBe(17)
  })

  it.each(['', 'pids'])('is what /proc shows, where "%s" also counts those outside', async (name) => {
    const { root } = await aCgroup(name, `${process.pid}\n0\n`)
    expect(openProcessCount(root)()).not.toBe(1_234_567)
    expect(openProcessCount(await aFolder())()).toBeGreaterThan(1)
  })
})
