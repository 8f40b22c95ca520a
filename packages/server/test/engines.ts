// Real container engines for tests, where this machine can run one: Docker's and Podman's own programs, each in a
// network namespace, with directories and a socket of its own, so that nothing of the machine's is touched.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, connect, type Server, type Socket } from 'node:net'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { randomInt } from 'node:crypto'
import Docker from 'dockerode'
import { rootFilesystem } from './root-filesystem.ts'

const run = promisify(execFile)

export type EngineName = 'Docker' | 'Podman'

export interface TestEngine {
  name: EngineName
  socketPath: string
  /** Where containers reach this machine. */
  hostAddress: string
  /** Of the namespace it runs in. */
  networkName: string
  docker: Docker
  /** An image with /etc/one, /etc/two and a few programs. */
  base: string
  stop(): Promise<void>
}

const programs: Record<EngineName, string> = { Docker: 'dockerd', Podman: 'podman' }

/**
 * Why the engine is not tried; null: it is. They are asked for by name, since they change the machine's network and
 * mounts, which a test run should not do unasked.
 */
export async function missing(name: EngineName): Promise<string | null> {
  const wanted = (process.env['MILLRACE_TEST_ENGINES'] ?? '').toLowerCase().split(',')
  if (!wanted.includes(name.toLowerCase())) return `MILLRACE_TEST_ENGINES does not name ${name.toLowerCase()}`
  if (process.platform !== 'linux') return 'needs Linux'
  if (process.getuid?.() !== 0) return 'needs root'
  for (const program of [programs[name], 'nsenter', 'ip', 'iptables']) {
    const found = await run('sh', ['-c', `command -v ${program}`]).catch(() => null)
    if (found === null) return `${program} is not installed`
  }
  return null
}

export async function startEngine(name: EngineName): Promise<TestEngine> {
  const root = await mkdtemp(join(tmpdir(), 'mr-engine-'))
  const network = await makeNetwork()
  const socketPath = join(root, 'engine.sock')
  const [program = '', ...given] =
    name === 'Docker' ? dockerCommand(root, socketPath) : podmanCommand(root, socketPath)
  const output: string[] = []
  await writeFile(join(root, 'containers.conf'), podmanSettings(root))
  const daemon = spawn('nsenter', [`--net=/run/netns/${network.name}`, '--', program, ...given], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CONTAINERS_CONF: join(root, 'containers.conf'), DOCKER_TMPDIR: join(root, 'tmp') },
  })
  for (const stream of [daemon.stdout, daemon.stderr])
    stream.on('data', (piece) => output.push(String(piece)))
  const docker = new Docker({ socketPath })
  const stop = async () => {
    await endContainers(docker)
    await end(daemon)
    await network.remove()
    await unmountBelow(root)
    await rm(root, { recursive: true, force: true })
  }
  try {
    await untilAnswers(docker, daemon)
    const base = 'localhost/millrace-test/base:1'
    await importImage(docker, base)
    return {
      name,
      socketPath,
      hostAddress: network.hostAddress,
      networkName: network.name,
      docker,
      base,
      stop,
    }
  } catch (error) {
    await stop()
    throw new Error(`${name} does not start here: ${output.join('').slice(-2000)}`, { cause: error })
  }
}

const dockerCommand = (root: string, socketPath: string) =>
  `dockerd --host unix://${socketPath} --data-root ${root}/data --exec-root ${root}/exec --pidfile ${root}/pid --log-level warn`.split(
    ' ',
  )

const podmanCommand = (root: string, socketPath: string) =>
  `podman --root ${root}/data --runroot ${root}/run --network-config-dir ${root}/net --tmpdir ${root}/tmp system service --time 0 unix://${socketPath}`.split(
    ' ',
  )

/** runc, because crun refuses machines that mount both versions of control groups. */
const podmanSettings = (root: string) => `
[engine]
runtime = "runc"
volume_path = "${join(root, 'volumes')}"
cgroup_manager = "cgroupfs"
events_logger = "file"
`

interface TestNetwork {
  name: string
  hostAddress: string
  remove(): Promise<void>
}

/** A namespace with a wire to this machine, and no way beyond it. */
async function makeNetwork(): Promise<TestNetwork> {
  const number = randomInt(1, 16_000)
  const name = `mrtest${process.pid}-${number}`
  const [outer, inner] = [`mro${number}`, `mri${number}`]
  const prefix = `10.${213 + (number >> 12)}.${(number >> 4) & 255}.${(number & 15) * 16}`.split('.')
  const address = (offset: number) => [...prefix.slice(0, 3), Number(prefix[3]) + offset].join('.')
  const ip = (...given: string[]) => run('ip', given)
  await ip('netns', 'add', name)
  await ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', name)
  await ip('addr', 'add', `${address(1)}/30`, 'dev', outer)
  await ip('link', 'set', outer, 'up')
  await ip('-n', name, 'addr', 'add', `${address(2)}/30`, 'dev', inner)
  await ip('-n', name, 'link', 'set', inner, 'up')
  await ip('-n', name, 'link', 'set', 'lo', 'up')
  await ip('-n', name, 'route', 'add', 'default', 'via', address(1))
  await run('nsenter', [
    `--net=/run/netns/${name}`,
    '--',
    'sh',
    '-c',
    'echo 1 > /proc/sys/net/ipv4/ip_forward',
  ])
  return {
    name,
    hostAddress: address(1),
    async remove() {
      await ip('netns', 'del', name).catch(() => {})
      await ip('link', 'del', outer).catch(() => {})
    },
  }
}

async function untilAnswers(docker: Docker, daemon: ChildProcess): Promise<void> {
  const deadline = AbortSignal.timeout(60_000)
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

export async function importImage(docker: Docker, ref: string, more: readonly string[] = []): Promise<void> {
  const at = ref.lastIndexOf(':')
  const name = { repo: ref.slice(0, at), tag: ref.slice(at + 1) }
  const stream = await docker.importImage(Readable.from(await rootFilesystem(more)), name)
  const said = await new Promise<Array<{ status?: string }>>((resolve, reject) => {
    docker.modem.followProgress(stream, (error, lines) => (error ? reject(error) : resolve(lines)))
  })
  // Podman makes the image and forgets its name.
  const id = said.map(({ status = '' }) => /sha256:[0-9a-f]{64}/.exec(status)?.[0]).find(Boolean)
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

async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return
  const exited = once(daemon, 'exit')
  daemon.kill('SIGTERM')
  const timer = setTimeout(() => daemon.kill('SIGKILL'), 15_000)
  await exited
  clearTimeout(timer)
}

async function unmountBelow(root: string): Promise<void> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '')
  for (const path of mounts.filter((mount) => mount.startsWith(`${root}/`)).toReversed()) {
    await run('umount', ['-l', path]).catch(() => {})
  }
}

/** A socket in front of an engine's that can be closed, or silent. */
export interface Gate {
  socketPath: string
  close(): Promise<void>
  open(): Promise<void>
  /** From now on requests are taken and never answered. */
  hush(): void
  /** Cuts the connection after so many more requests have been passed on, before their answer is heard. */
  cutAfter(requests: number): void
}

export async function startGate(target: string): Promise<Gate> {
  const directory = await mkdtemp(join(tmpdir(), 'mr-gate-'))
  const socketPath = join(directory, 'gate.sock')
  const sockets = new Set<Socket>()
  let isSilent = false
  let remaining = Infinity
  let server: Server | null = null
  const pass = (client: Socket) => {
    sockets.add(client)
    client.on('error', () => {})
    if (isSilent) return
    const upstream = connect(target)
    sockets.add(upstream)
    upstream.on('error', () => client.destroy())
    client.on('data', (piece: Buffer) => {
      upstream.write(piece)
      if (/^(GET|POST|PUT|DELETE|HEAD) /.test(piece.toString('latin1', 0, 8)) && remaining-- <= 0)
        client.destroy()
    })
    client.on('end', () => upstream.end())
    client.on('close', () => upstream.destroy())
    upstream.pipe(client)
  }
  const open = async () => {
    isSilent = false
    remaining = Infinity
    if (server !== null) return
    server = createServer(pass)
    server.listen(socketPath)
    await once(server, 'listening')
  }
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    const closing = server
    server = null
    if (closing !== null) await new Promise((closed) => closing.close(closed))
  }
  await open()
  return {
    socketPath,
    open,
    close,
    hush() {
      isSilent = true
      for (const socket of sockets) socket.destroy()
    },
    cutAfter(requests) {
      remaining = requests
    },
  }
}
