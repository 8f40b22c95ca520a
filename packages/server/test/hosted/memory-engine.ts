// An in-memory container engine for tests of the server. It passes the conformance suite of real engines
// (src/hosted/conformance.test.ts). Its containers run TypeScript functions on text files.
import { once } from 'node:events'
import {
  HostedNotFound,
  HostedRefused,
  HostedInUse,
  HostedUnavailable,
  sharedKinds,
  type AttachedVolume,
  type Container,
  type HostedDriver,
  type ImageBuild,
  type Mount,
  type SharedKind,
} from '../../src/hosted/driver.ts'

type Files = Map<string, string>

export interface Process {
  arguments: readonly string[]
  environment: Readonly<Record<string, string>>
  write(text: string): void
  readFile(path: string): string | undefined
  /** False: the file is read-only. */
  writeFile(path: string, text: string): boolean
  /** Aborted when the container is stopped. */
  signal: AbortSignal
}

/** Returns its exit status. */
type Program = (process: Process) => Promise<number>

type Operation = keyof HostedDriver

/** Not reached: fails at once. Hangs: fails after a while. Cut off: the operation is done, but its answer is lost. */
type Trouble = 'not reached' | 'hangs' | 'cut off'

interface RunningContainer {
  container: Container
  files: Files
  output: string
  exitStatus: number | null
  stopping: AbortController
  ended: Promise<void>
}

interface Volume {
  clusterId: string
  attached: Files | null
  kept: Files | null
}

interface Installation {
  containers: Map<string, RunningContainer>
  images: Map<string, Files>
  volumes: Map<string, Volume>
  shared: Map<string, Files>
}

export class MemoryEngine {
  readonly programs: Record<string, Program>
  /** Images that every installation has besides those it built. */
  readonly baseImages = new Map<string, Files>()
  readonly #installations = new Map<string, Installation>()
  readonly #trouble = new Map<Operation, Trouble>()
  /** Builds wait here while it is set. */
  #hold: { released: Promise<void>; release: () => void } | null = null

  constructor(programs: Record<string, Program> = {}) {
    this.programs = { ...builtIn, ...programs }
    this.baseImages.set(
      'base:1',
      new Map([
        ['/etc/one', 'one\n'],
        ['/etc/two', 'two\n'],
      ]),
    )
  }

  /** These operations fail until `recover`. */
  fail(trouble: Trouble, ...operations: Operation[]): void {
    for (const operation of operations) this.#trouble.set(operation, trouble)
  }

  recover(): void {
    this.#trouble.clear()
    this.releaseBuilds()
  }

  /** Builds stop after their first line until they are released. */
  holdBuilds(): void {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    this.#hold = { released, release }
  }

  releaseBuilds(): void {
    this.#hold?.release()
    this.#hold = null
  }

  /** The containers as they were requested. */
  containers(installationId: string): Container[] {
    return [...(this.#installations.get(installationId)?.containers.values() ?? [])].map(
      ({ container }) => container,
    )
  }

  open(installationId: string): HostedDriver {
    const at = this.#installations.get(installationId) ?? {
      containers: new Map(),
      images: new Map(),
      volumes: new Map(),
      shared: new Map(),
    }
    this.#installations.set(installationId, at)
    const guarded =
      <A extends unknown[], T>(operation: Operation, work: (...given: A) => T | Promise<T>) =>
      async (...given: A): Promise<T> => {
        const trouble = this.#trouble.get(operation)
        if (trouble === 'not reached') throw new HostedUnavailable('The engine is not reached.')
        if (trouble === 'hangs') {
          await once(AbortSignal.timeout(20), 'abort')
          throw new HostedUnavailable('The engine did not answer in time.')
        }
        const done = await work(...given)
        if (trouble === 'cut off') throw new HostedUnavailable('The engine hung up.')
        return done
      }
    return {
      check: guarded('check', () => {}),
      startContainer: guarded('startContainer', (container) => this.#start(at, container)),
      stopContainer: guarded('stopContainer', (id) => stop(at, id)),
      listContainers: guarded('listContainers', () =>
        [...at.containers.values()].map(({ container: { id, clusterId }, exitStatus }) => ({
          id,
          clusterId,
          exitStatus,
        })),
      ),
      readOutput: guarded('readOutput', (id) => there(at.containers.get(id), 'container', id).output),
      buildImage: guarded('buildImage', (build) => this.#build(at, build)),
      deleteImage: guarded('deleteImage', (ref) => deleteImage(at, ref)),
      listImages: guarded('listImages', () => [...at.images.keys()]),
      attachVolume: guarded('attachVolume', (volume) => attach(at, volume)),
      snapshotVolume: guarded('snapshotVolume', (id) => snapshot(at, id)),
      detachVolume: guarded('detachVolume', (id) => deleteSide(at, id, 'attached')),
      deleteSnapshot: guarded('deleteSnapshot', (id) => deleteSide(at, id, 'kept')),
      listVolumes: guarded('listVolumes', () =>
        [...at.volumes].map(([id, { clusterId, attached, kept }]) => ({
          id,
          clusterId,
          isAttached: attached !== null,
          hasSnapshot: kept !== null,
        })),
      ),
      setGitMirror: guarded('setGitMirror', (id, enabled) => setShared(at, id, 'git_mirror', enabled)),
      setContainerCache: guarded('setContainerCache', (id, enabled) =>
        setShared(at, id, 'container_cache', enabled),
      ),
      listSharedVolumes: guarded('listSharedVolumes', () => listSharedVolumes(at)),
      tidy: guarded('tidy', () => {}),
      close: guarded('close', () => {}),
    }
  }

  #start(at: Installation, container: Container): void {
    if (at.containers.has(container.id)) return
    const files = new Map(there(this.#findImage(at, container.image), 'image', container.image))
    const mounted = container.mounts.map((mount) => ({ ...mount, files: findMounted(at, container, mount) }))
    const [name = '', ...rest] = container.command
    const program = this.programs[name]
    if (program === undefined) throw new HostedRefused(`The image has no program ${name}.`)
    const stopping = new AbortController()
    const place = (path: string) =>
      mounted.find((mount) => path === mount.path || path.startsWith(`${mount.path}/`))
    const running: RunningContainer = {
      container,
      files,
      output: '',
      exitStatus: null,
      stopping,
      ended: Promise.resolve(),
    }
    at.containers.set(container.id, running)
    running.ended = program({
      arguments: rest,
      environment: container.environment,
      signal: stopping.signal,
      write: (text) => void (running.output += text),
      readFile: (path) => (place(path)?.files ?? files).get(inside(path, place(path)?.path)),
      writeFile(path, text) {
        const mount = place(path)
        if (mount !== undefined && mount.kind !== 'volume' && mount.readOnly) return false
        ;(mount?.files ?? files).set(inside(path, mount?.path), text)
        return true
      },
    }).then(
      (status) => void (running.exitStatus = status),
      () => void (running.exitStatus = 137),
    )
  }

  async #build(at: Installation, { ref, dockerfile, onLog, signal }: ImageBuild): Promise<void> {
    const [from = '', ...instructions] = dockerfile.split('\n').filter((line) => line.trim() !== '')
    onLog(`${from}\n`)
    signal.throwIfAborted()
    if (this.#hold !== null) await Promise.race([this.#hold.released, once(signal, 'abort')])
    signal.throwIfAborted()
    const base = from.replace(/^FROM /, '')
    const found = this.#findImage(at, base)
    if (found === undefined) throw new HostedRefused(`There is no image ${base}.`)
    const files = new Map(found)
    for (const instruction of instructions) {
      onLog(`${instruction}\n`)
      const [word, name = '', ...rest] = instruction.split(' ')
      if (word !== 'RUN') throw new HostedRefused(`unknown instruction: ${word}`)
      const run = this.programs[name]
      const status = await run?.({
        arguments: rest,
        environment: {},
        signal,
        write: onLog,
        readFile: (path) => files.get(path),
        writeFile: (path, text) => files.set(path, text) !== undefined,
      })
      signal.throwIfAborted()
      if (status !== 0)
        throw new HostedRefused(`The command "${instruction.slice(4)}" ended with ${status ?? 127}.`)
    }
    at.images.set(ref, files)
  }

  #findImage(at: Installation, ref: string): Files | undefined {
    return at.images.get(ref) ?? this.baseImages.get(ref)
  }
}

const builtIn: Record<string, Program> = {
  true: async () => 0,
  false: async () => 1,
  async sleep({ arguments: [seconds], signal }) {
    const over = AbortSignal.any([signal, AbortSignal.timeout(Number(seconds) * 1000)])
    if (!over.aborted) await once(over, 'abort')
    return signal.aborted ? 137 : 0
  },
  async cat({ arguments: paths, readFile, write }) {
    const texts = paths.map(readFile)
    for (const text of texts) write(text ?? 'No such file\n')
    return texts.includes(undefined) ? 1 : 0
  },
  async cp({ arguments: [from = '', to = ''], readFile, writeFile }) {
    const text = readFile(from)
    return text !== undefined && writeFile(to, text) ? 0 : 1
  },
  async printenv({ arguments: [name = ''], environment, write }) {
    const value = environment[name]
    if (value !== undefined) write(`${value}\n`)
    return value === undefined ? 1 : 0
  },
}

const inside = (path: string, mountPath: string | undefined) =>
  mountPath === undefined ? path : path.slice(mountPath.length)

function there<T>(value: T | undefined, kind: string, id: string): T {
  if (value === undefined) throw new HostedNotFound(`There is no ${kind} ${id}.`)
  return value
}

function findMounted(at: Installation, { clusterId }: Container, mount: Mount): Files {
  if (mount.kind === 'volume') {
    return there(at.volumes.get(mount.id)?.attached ?? undefined, 'volume', mount.id)
  }
  return there(at.shared.get(`${mount.kind} ${clusterId}`), mount.kind, clusterId)
}

async function stop(at: Installation, id: string): Promise<void> {
  const running = at.containers.get(id)
  if (running === undefined) return
  running.stopping.abort()
  await running.ended
  at.containers.delete(id)
}

function deleteImage(at: Installation, ref: string): void {
  if ([...at.containers.values()].some(({ container }) => container.image === ref)) {
    throw new HostedInUse(`A container is made from the image ${ref}; it can be deleted when that has ended.`)
  }
  at.images.delete(ref)
}

function attach(at: Installation, { id, clusterId, from }: AttachedVolume): void {
  const begun = at.volumes.get(id)
  if (begun !== undefined && begun.attached !== null) return
  const kept = from === null ? new Map() : (at.volumes.get(from)?.kept ?? undefined)
  at.volumes.set(id, { clusterId, kept: null, attached: new Map(there(kept, 'kept volume', from ?? '')) })
}

function snapshot(at: Installation, id: string): { sizeMb: number } {
  const volume = there(at.volumes.get(id), 'volume', id)
  if (volume.attached !== null) volume.kept = new Map(volume.attached)
  const bytes = [...(volume.kept ?? [])].reduce((sum, [, text]) => sum + text.length, 0)
  return { sizeMb: Math.ceil(bytes / 1024 / 1024) }
}

function deleteSide(at: Installation, id: string, side: 'attached' | 'kept'): void {
  const volume = at.volumes.get(id)
  if (volume === undefined) return
  volume[side] = null
  if (volume.attached === null && volume.kept === null) at.volumes.delete(id)
}

function setShared(at: Installation, clusterId: string, kind: SharedKind, enabled: boolean): void {
  const name = `${kind} ${clusterId}`
  if (!enabled) at.shared.delete(name)
  else if (!at.shared.has(name)) at.shared.set(name, new Map())
}

function listSharedVolumes(at: Installation) {
  const clusterIds = new Set([...at.shared.keys()].map((name) => name.split(' ')[1] ?? ''))
  return [...clusterIds].map((clusterId) => {
    const [gitMirror = false, containerCache = false] = sharedKinds.map((kind) =>
      at.shared.has(`${kind} ${clusterId}`),
    )
    return { clusterId, gitMirror, containerCache }
  })
}
