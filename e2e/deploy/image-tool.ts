// Builds and runs images with what this machine has: Docker, Podman, or Buildah and namespaces. No registry is needed,
// because the base images are made of this machine's own Node and programs.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { linuxLacks } from '../../testbed/src/needing.ts'
import { rootFilesystem } from '../../testbed/src/root-filesystem.ts'
import { launch, type Running, type Settings } from '../millrace.ts'
import { findProgram, root } from './files.ts'

const run = promisify(execFile)

/** The names of the base images, for the arguments of the Dockerfile. */
export const bases = { node: 'localhost/millrace-test/node:1', base: 'localhost/millrace-test/base:1' }

interface ImageConfig {
  user: string
  entrypoint: string[]
  command: string[]
  healthcheck: string[]
  labels: Record<string, string>
  volumes: string[]
}

export interface ImageTool {
  name: string
  build(tag: string, args: readonly string[]): Promise<void>
  config(tag: string): Promise<ImageConfig>
  bytes(tag: string): Promise<number>
  /** Runs it on a read-only file system without capabilities, in the network of this machine. */
  start(tag: string, command: readonly string[], settings: Settings, entrypoint?: string): Running
  remove(): void
}

/** Opens the first tool that builds and runs an image here. Else the reasons why there is none. */
export async function findImageTool(): Promise<(() => ImageTool) | string> {
  if (linuxLacks !== null) return linuxLacks
  const reasons: string[] = []
  for (const name of Object.keys(tools)) {
    const reason = await toolLacks(name)
    if (reason === null) return () => openTool(name)
    reasons.push(`${name}: ${reason}`)
  }
  return reasons.join('; ')
}

const tools: Record<string, (program: string) => ImageTool> = {
  docker: engineTool,
  podman: engineTool,
  buildah: buildahTool,
}

function openTool(name: string): ImageTool {
  const open = tools[name]
  const program = findProgram(name)
  if (open === undefined || program === null) throw new Error(`${name} is not installed`)
  return open(program)
}

/** A tool may have no engine, or no rights to run containers. So it builds and runs a small image. */
export async function toolLacks(name: string): Promise<string | null> {
  if (findProgram(name) === null) return 'it is not installed'
  const tool = openTool(name)
  const tag = `localhost/millrace-test/try:${process.pid}`
  const folder = mkdtempSync(join(tmpdir(), 'millrace-try-'))
  const lines = ['FROM scratch', 'ADD root.tar /', 'RUN touch /made', 'VOLUME /data', 'WORKDIR /', 'USER 1:1']
  try {
    await run(name, ['info'])
    await pipeline(await rootFilesystem(['env']), createWriteStream(join(folder, 'root.tar')))
    writeFileSync(join(folder, 'Dockerfile'), `${lines.join('\n')}\n`)
    await tool.build(tag, [folder])
    const { code, stdout, stderr } = await tool.start(tag, ['/made'], {}, 'ls').ended
    return stdout === '/made\n' ? null : reasonOf(stderr) || `a container ended with ${code}`
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    return reasonOf(stderr) || reasonOf(message)
  } finally {
    tool.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The end of what a program has written, for the name of a test. */
const reasonOf = (output: string): string => output.trim().split('\n').slice(-3).join(' ').slice(0, 300)

/** Makes the base images. Node's has npm too, which only the installation needs. */
export async function makeBases(tool: ImageTool): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bases-'))
  try {
    const programs = ['chmod', 'chown', 'env', 'id', 'ln']
    await pipeline(await rootFilesystem(programs), createWriteStream(join(folder, 'base.tar')))
    await pipeline(
      await rootFilesystem([...programs, process.execPath]),
      createWriteStream(join(folder, 'node.tar')),
    )
    const npm = realpathSync(join(dirname(process.execPath), 'npm'))
    execFileSync('cp', ['-a', dirname(dirname(npm)), join(folder, 'npm')])
    const links = 'ln -s /bin/env /usr/bin/env && mkdir -p /usr/local/bin /usr/local/lib /var/lib'
    const libraries = libraryFiles(folder)
    writeFileSync(
      join(folder, 'Dockerfile'),
      `FROM scratch AS base
ADD base.tar /
COPY ${libraries}/ /lib/
RUN ${links}
FROM scratch AS node
ADD node.tar /
RUN ${links} && cp /bin/node /usr/local/bin/node && ln -s ../lib/npm/bin/npm-cli.js /usr/local/bin/npm
COPY npm /usr/local/lib/npm
`,
    )
    await tool.build(bases.base, ['--target', 'base', folder])
    await tool.build(bases.node, ['--target', 'node', folder])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Debian's base image has the libraries that Node needs. Returns the folder in the build's context. */
function libraryFiles(folder: string): string {
  const name = 'libraries'
  mkdirSync(join(folder, name))
  const listed = execFileSync('ldd', [process.execPath], { encoding: 'utf8' })
  const paths = listed.split('\n').flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? [])
  // The library of passwords needs this one too.
  const realtime = paths.map((path) => join(dirname(path), 'librt.so.1')).find((path) => existsSync(path))
  for (const path of [...paths, ...(realtime === undefined ? [] : [realtime])])
    execFileSync('cp', ['-L', path, join(folder, name)])
  return name
}

/** Docker and Podman have the same command line. */
function engineTool(program: string): ImageTool {
  const tags = new Set<string>()
  return {
    name: program.split('/').at(-1) ?? '',
    async build(tag, args) {
      tags.add(tag)
      await run(program, ['build', '--network', 'host', '-t', tag, ...args], {
        cwd: root,
        maxBuffer: 2 ** 26,
        // Podman otherwise keeps an image of each instruction, and its own format has no health checks.
        env: { ...process.env, BUILDAH_LAYERS: 'false', BUILDAH_FORMAT: 'docker' },
      })
    },
    async config(tag) {
      const { stdout } = await run(program, ['image', 'inspect', tag])
      const [image] = JSON.parse(stdout) as [{ Config: RawConfig; Healthcheck?: RawConfig['Healthcheck'] }]
      return readConfig({ ...image.Config, Healthcheck: image.Config.Healthcheck ?? image.Healthcheck })
    },
    async bytes(tag) {
      const { stdout } = await run(program, ['image', 'inspect', '--format', '{{.Size}}', tag])
      return Number(stdout)
    },
    start(tag, command, settings, entrypoint) {
      const variables = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`])
      const limits = '--rm --network host --read-only --cap-drop ALL --security-opt no-new-privileges'
      const start = entrypoint === undefined ? [] : ['--entrypoint', entrypoint]
      const args = ['run', ...limits.split(' '), '--tmpfs', '/tmp', ...start, ...variables, tag, ...command]
      return launch(program, args, inherited())
    },
    remove() {
      spawnSync(program, ['image', 'rm', '--force', ...tags])
    },
  }
}

/** The variables that say where an engine is. */
const inherited = (): Settings =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      /^(DOCKER|CONTAINER|BUILDAH|XDG_RUNTIME)/.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  )

const overlayType = 0x794c7630

/** Runs images in a mount namespace, with the user of the image. */
function buildahTool(buildah: string): ImageTool {
  const store = mkdtempSync(join(tmpdir(), 'millrace-buildah-'))
  // An overlay cannot have another one below. Copies take longer, but always work.
  const driver = statfsSync(store).type === overlayType ? 'vfs' : 'overlay'
  const own = ['--root', join(store, 'root'), '--runroot', join(store, 'run'), '--storage-driver', driver]
  const ask = (...args: string[]) => execFileSync(buildah, [...own, ...args], { encoding: 'utf8' }).trim()
  const inspect = (tag: string) => {
    const { Docker } = JSON.parse(ask('inspect', '--type', 'image', tag)) as { Docker: { config: RawConfig } }
    return Docker.config
  }
  return {
    name: 'buildah',
    async build(tag, args) {
      const options = ['--isolation', 'chroot', '--format', 'docker', '--network', 'host', '--pull-never']
      await run(buildah, [...own, 'build', ...options, '-t', tag, ...args], { cwd: root, maxBuffer: 2 ** 26 })
    },
    async config(tag) {
      return readConfig(inspect(tag))
    },
    async bytes(tag) {
      const place = ask('mount', ask('from', tag))
      return Number(execFileSync('du', ['-sb', place], { encoding: 'utf8' }).split('\t')[0])
    },
    start(tag, command, settings, entrypoint) {
      const place = ask('mount', ask('from', tag))
      const { Env = [], Entrypoint, WorkingDir = '/', Volumes, User = '' } = inspect(tag)
      const data = mkdtempSync(join(store, 'volume-'))
      execFileSync('chown', [User, data])
      const words = [...(entrypoint === undefined ? (Entrypoint ?? []) : [entrypoint]), ...command]
      const variables = [...Env, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)]
      const [volume = ''] = Object.keys(Volumes ?? {})
      const args = ['--mount', '--', '/bin/sh', '-c', confine, 'sh', place, volume, data, User, WorkingDir]
      return launch('unshare', [...args, `PATH=${usualPath}`, ...variables, ...words], {})
    },
    remove() {
      spawnSync(buildah, [...own, 'rm', '--all'])
      rmSync(store, { recursive: true, force: true })
    },
  }
}

/** Engines set it for images that do not. */
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Everything is replaced by the last `exec`, so signals reach the program. */
const confine = `
set -e
place=$1 volume=$2 data=$3 user=$4 folder=$5
shift 5
mount --make-rprivate /
mount --rbind "$place" "$place"
mkdir -p "$place/proc" "$place/dev" "$place/tmp" "$place$volume"
mount -o remount,bind,ro "$place"
mount -t proc none "$place/proc"
mount --rbind /dev "$place/dev"
mount -t tmpfs -o mode=1777 none "$place/tmp"
mount --bind "$data" "$place$volume"
exec setpriv --no-new-privs chroot --userspec="$user" "$place" /bin/env -i -C "$folder" "$@"
`

interface RawConfig {
  User?: string
  Entrypoint?: string[] | null
  Cmd?: string[] | null
  Env?: string[]
  WorkingDir?: string
  Healthcheck?: { Test?: string[] } | undefined
  Labels?: Record<string, string> | null
  Volumes?: Record<string, object> | null
}

const readConfig = (raw: RawConfig): ImageConfig => ({
  user: raw.User ?? '',
  entrypoint: raw.Entrypoint ?? [],
  command: raw.Cmd ?? [],
  healthcheck: raw.Healthcheck?.Test ?? [],
  labels: raw.Labels ?? {},
  volumes: Object.keys(raw.Volumes ?? {}),
})
