// Starts real container engines for tests and measurements. Docker and Podman each run in their own network and mount
// namespace, with their own directories and socket, and share only one virtual network link with the machine.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { makeNetwork } from './network.ts'
import { rootFilesystem } from './root-filesystem.ts'

const run = promisify(execFile)

export const engineNames = ['Podman', 'Docker'] as const
export type EngineName = (typeof engineNames)[number]

/** The part that can be sent to another process. */
export interface EnginePlace {
  name: EngineName
  socketPath: string
  /** The address of this machine for containers. */
  hostAddress: string
  /** The network namespace. */
  networkName: string
}

export interface RunningEngine extends EnginePlace {
  stop(): Promise<void>
}

/** Every engine has this image with /etc/one, /etc/two and a few programs. */
export const baseImage = 'localhost/millrace-test/base:1'

const programs: Record<EngineName, string> = { Docker: 'dockerd', Podman: 'podman' }

/** Throws with the reason if this machine or this user cannot run it. */
export async function startEngine(name: EngineName): Promise<RunningEngine> {
  if (process.platform !== 'linux') throw new Error('needs Linux')
  if (process.getuid?.() !== 0) throw new Error('needs root')
  for (const program of [programs[name], 'setpriv', 'nsenter', 'unshare', 'ip', 'iptables']) {
    if (!(await isInstalled(program))) throw new Error(`${program} is not installed`)
  }
  const network = await makeNetwork()
  const root = await mkdtemp(join(tmpdir(), 'mr-engine-'))
  const socketPath = join(root, 'engine.sock')
  const output: string[] = []
  await writeFile(join(root, 'containers.conf'), await podmanSettings(root))
  await cachePluginVersions(root)
  const command = name === 'Docker' ? dockerCommand(root, socketPath) : podmanCommand(root, socketPath)
  const [program, ...given] = inNamespaces(root, network.name, command)
  const daemon = spawn(program, given, {
    // Podman writes a file to its working directory when a container runs out of memory.
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CONTAINERS_CONF: join(root, 'containers.conf'), DOCKER_TMPDIR: join(root, 'tmp') },
  })
  for (const stream of [daemon.stdout, daemon.stderr])
    stream.on('data', (piece) => output.push(String(piece)))
  const docker = new Docker({ socketPath })
  const kill = () => void daemon.kill('SIGKILL')
  // Nothing else runs when the test run is interrupted.
  process.once('exit', kill).once('exit', network.abandon)
  const stop = async () => {
    await endContainers(docker)
    await end(daemon)
    await network.remove()
    process.off('exit', kill).off('exit', network.abandon)
    await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  try {
    await untilAnswers(docker, daemon)
    await importImage(docker, baseImage)
    await tryContainer(docker)
    return { name, socketPath, hostAddress: network.hostAddress, networkName: network.name, stop }
  } catch (error) {
    await stop()
    const lastLines = output.join('').trim().split('\n').slice(-3).join(' ')
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`it does not start here: ${reason} ${lastLines}`.trim(), { cause: error })
  }
}

const isInstalled = (program: string): Promise<boolean> =>
  run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  )

/**
 * The engine ends with this process, and its mounts and processes end with the engine, however either ends. overlayfs
 * cannot be the upper layer of another overlayfs, so a tmpfs covers it.
 */
const inNamespaces = (root: string, networkName: string, command: string): [string, ...string[]] => [
  'setpriv',
  ...`--pdeathsig KILL nsenter --net=/run/netns/${networkName} --`.split(' '),
  ...'unshare --mount --propagation private --pid --fork --kill-child=SIGKILL --mount-proc sh -c'.split(' '),
  [
    'set -e',
    ...['/run/netns', '/run/containers', '/var/lib/cni'].map(
      (path) => `if [ -d ${path} ]; then mount -t tmpfs tmpfs ${path}; fi`,
    ),
    `mkdir -p ${root}/data ${root}/volumes`,
    `if [ "$(stat -f -c %T ${root})" = overlayfs ]; then mount -t tmpfs tmpfs ${root}/data; mount -t tmpfs tmpfs ${root}/volumes; fi`,
    `exec ${command}`,
  ].join('\n'),
]

const dockerCommand = (root: string, socketPath: string) =>
  `dockerd --host unix://${socketPath} --data-root ${root}/data --exec-root ${root}/exec --pidfile ${root}/pid --log-level warn`

const podmanCommand = (root: string, socketPath: string) =>
  `podman --root ${root}/data --runroot ${root}/run --network-config-dir ${root}/net --tmpdir ${root}/tmp system service --time 0 unix://${socketPath}`

/**
 * Prefers runc, because crun refuses machines that mount both versions of control groups. The limits are low, because
 * Podman's defaults exceed those of root on some machines.
 */
const podmanSettings = async (root: string) => `
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "${(await isInstalled('runc')) ? 'runc' : 'crun'}"
volume_path = "${join(root, 'volumes')}"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
cni_plugin_dirs = ${JSON.stringify([join(root, 'plugins'), ...pluginFolders])}
`

/** Podman's default folders. */
const pluginFolders = [
  '/usr/local/libexec/cni',
  '/usr/libexec/cni',
  '/usr/local/lib/cni',
  '/usr/lib/cni',
  '/opt/cni/bin',
]

/**
 * Without netavark, Podman runs four programs for their versions, for each network, whenever it lists networks: half of
 * its work here. Scripts answer with the versions instead, and pass everything else on to the programs.
 */
async function cachePluginVersions(root: string): Promise<void> {
  await mkdir(join(root, 'plugins'))
  const env = { CNI_COMMAND: 'VERSION' }
  for (const folder of pluginFolders) {
    for (const name of await readdir(folder).catch(() => [])) {
      const asked = await run(join(folder, name), { env }).catch(() => null)
      if (asked === null) continue
      const script = `#!/bin/sh\nif [ "$CNI_COMMAND" = VERSION ]; then echo '${asked.stdout.trim()}'; else exec ${join(folder, name)}; fi\n`
      await writeFile(join(root, 'plugins', name), script, { mode: 0o755, flag: 'wx' }).catch(() => {})
    }
  }
}

async function untilAnswers(docker: Docker, daemon: ChildProcess): Promise<void> {
  const deadline = AbortSignal.timeout(300_000)
  for (;;) {
    if (daemon.exitCode !== null) throw new Error(`It ended with ${daemon.exitCode}.`)
    const isUp = await docker.ping().then(
      () => true,
      () => false,
    )
    if (isUp) return
    deadline.throwIfAborted()
    await once(AbortSignal.timeout(50), 'abort')
  }
}

/** An engine may answer although it cannot run containers, without rights or control groups. */
async function tryContainer(docker: Docker): Promise<void> {
  const container = await docker.createContainer({
    Image: baseImage,
    Entrypoint: ['true'],
    HostConfig: { Memory: 64 * 1024 * 1024, NanoCpus: 1e9, PidsLimit: 20 },
  })
  await container.start()
  const { StatusCode } = (await container.wait()) as { StatusCode: number }
  await container.remove({ force: true })
  if (StatusCode !== 0) throw new Error(`A container ended with ${StatusCode}.`)
}

export async function importImage(docker: Docker, ref: string, more: readonly string[] = []): Promise<void> {
  const at = ref.lastIndexOf(':')
  const name = { repo: ref.slice(0, at), tag: ref.slice(at + 1) }
  const stream = await docker.importImage(Readable.from(await rootFilesystem(more)), name)
  const lines = await new Promise<Array<{ status?: string }>>((resolve, reject) => {
    docker.modem.followProgress(stream, (error, output) => (error ? reject(error) : resolve(output)))
  })
  // Podman imports the image without its name.
  const id = lines.map(({ status = '' }) => /sha256:[0-9a-f]{64}/.exec(status)?.[0]).find(Boolean)
  if (id !== undefined) await docker.getImage(id).tag(name)
}

async function endContainers(docker: Docker): Promise<void> {
  const containers = await docker.listContainers({ all: true }).catch(() => [])
  await Promise.all(
    containers.map(({ Id }) =>
      docker
        .getContainer(Id)
        .remove({ force: true })
        .catch(() => {}),
    ),
  )
}

/** Without a grace period, because nothing needs to be saved. */
async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return
  const exited = once(daemon, 'exit')
  daemon.kill('SIGKILL')
  await exited
}
