// A real Podman whose runtime refuses every container, as one does on a machine without the rights or the control groups for them.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { baseImage, importImage } from './engine.ts'

export interface RefusingEngine {
  socketPath: string
  stop(): Promise<void>
}

/** What its runtime says. */
export const refusal = 'setrlimit: Operation not permitted'

/** null: it can be started here. */
export function refusingEngineLacks(): string | null {
  if (process.platform !== 'linux') return `this is ${process.platform}`
  if (process.getuid?.() !== 0) return 'the tests run as an ordinary user'
  try {
    execFileSync('podman', ['--version'], { stdio: 'ignore' })
    return null
  } catch {
    return 'podman is not installed'
  }
}

export async function startRefusingEngine(): Promise<RefusingEngine> {
  const root = mkdtempSync(join(tmpdir(), 'mr-refusing-'))
  const at = (name: string) => join(root, name)
  for (const name of ['data', 'run', 'net', 'tmp']) mkdirSync(at(name))
  writeFileSync(at('runtime'), `#!/bin/sh\necho '${refusal}' >&2\nexit 1\n`)
  chmodSync(at('runtime'), 0o755)
  writeFileSync(
    at('containers.conf'),
    `[engine]
runtime = "refusing"
cgroup_manager = "cgroupfs"
events_logger = "file"
[engine.runtimes]
refusing = ["${at('runtime')}"]
`,
  )
  writeFileSync(
    at('storage.conf'),
    `[storage]\ndriver = "vfs"\ngraphroot = "${at('data')}"\nrunroot = "${at('run')}"\n`,
  )
  const socketPath = at('engine.sock')
  const folders = ['--root', at('data'), '--runroot', at('run'), '--network-config-dir', at('net')]
  const service = ['--tmpdir', at('tmp'), 'system', 'service', '--time', '0', `unix://${socketPath}`]
  const daemon = spawn('podman', [...folders, ...service], {
    cwd: root,
    stdio: 'ignore',
    env: {
      ...process.env,
      CONTAINERS_CONF: at('containers.conf'),
      CONTAINERS_STORAGE_CONF: at('storage.conf'),
    },
  })
  const ended = once(daemon, 'exit')
  const stop = async () => {
    daemon.kill('SIGKILL')
    await ended
    rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  const docker = new Docker({ socketPath })
  try {
    while (!(await answers(docker))) {
      if (daemon.exitCode !== null) throw new Error(`Podman ended with ${daemon.exitCode}.`)
      await once(AbortSignal.timeout(50), 'abort')
    }
    await importImage(docker, baseImage)
  } catch (error) {
    await stop()
    throw error
  }
  return { socketPath, stop }
}

const answers = (docker: Docker): Promise<boolean> =>
  docker.ping().then(
    () => true,
    () => false,
  )
