import { setTimeout as delay } from 'node:timers/promises'
import type Docker from 'dockerode'
import {
  HostedNotFound,
  HostedRefused,
  HostedUnavailable,
  mostOutputBytes,
  runnerPath,
  type Container,
  type ContainerStatus,
  type Mount,
} from '../driver.ts'
import { badCommand, nullIfNotFound } from '../engine-request.ts'
import { isOurs, label, labels } from '../labels.ts'
import { deleteContainer } from './delete-container.ts'
import { causeStatus, isKind, listOurContainers, ulimits, type Engine } from './engine.ts'
import { ensureImage } from './images.ts'
import { joinNetwork, leaveNetwork } from './networks.ts'
import { ensureRunner } from './runner-volume.ts'
import { findSharedMount } from './shared-volumes.ts'
import { findVolumeMount } from './volumes.ts'

const nameOf = (id: string) => `millrace-${id}`

export async function startContainer(engine: Engine, container: Container): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const [found, prepared] = await Promise.all([
      findContainer(engine, container.id),
      prepare(engine, container).catch((error: unknown) => ({ error })),
    ])
    if (found !== null && found.State.Status !== 'created') return
    if (found === null) {
      if ('error' in prepared) throw prepared.error
      await createContainer(engine, container, prepared)
    }
    const isStarted = await startCreated(engine, container.id)
    if (isStarted) return
    // The engine has not finished undoing an interrupted creation under the same name.
    if (attempt === 50) throw new HostedUnavailable(`The container ${container.id} could not be created.`)
    await delay(100)
  }
}

interface Prepared {
  mounts: Docker.MountSettings[]
  network: string
}

/** Each request takes the engine a few milliseconds, so independent ones are sent in parallel. */
async function prepare(engine: Engine, container: Container): Promise<Prepared> {
  const image = ensureImage(engine, container.image)
  const [mounts, network] = await Promise.all([
    findMounts(engine, container, image),
    joinNetwork(engine, container),
    image,
  ])
  return { mounts, network }
}

/** False: the container does not exist. */
async function startCreated(engine: Engine, id: string): Promise<boolean> {
  try {
    await engine.ask((docker) => docker.getContainer(nameOf(id)).start())
    return true
  } catch (error) {
    // Another request has started it.
    if (causeStatus(error) === 304) return true
    const isBadCommand = error instanceof Error && badCommand.test(error.message)
    if (isBadCommand || error instanceof HostedRefused) await stopContainer(engine, id)
    if (isBadCommand) throw new HostedRefused(error.message, { cause: error })
    if (error instanceof HostedNotFound) return false
    throw error
  }
}

const nameTaken = /name is already in use|name .* is in use/i

async function createContainer(
  engine: Engine,
  container: Container,
  { mounts, network }: Prepared,
): Promise<void> {
  const { limits } = container
  const memory = limits.memoryMb * 1024 * 1024
  const options: Docker.ContainerCreateOptions = {
    name: nameOf(container.id),
    Image: container.image,
    Entrypoint: [...container.command],
    Cmd: [],
    User: '0',
    Env: Object.entries(container.environment).map(([name, value]) => `${name}=${value}`),
    Labels: labels(engine, 'container', container.clusterId, container.id),
    HostConfig: {
      Mounts: mounts,
      NetworkMode: network,
      NanoCpus: limits.cpus * 1e9,
      Memory: memory,
      // The same as the memory limit, which allows no swap.
      MemorySwap: memory,
      PidsLimit: limits.processes,
      Ulimits: ulimits,
      // Jobs do not need these. Package managers need the other default capabilities.
      CapDrop: ['AUDIT_WRITE', 'MKNOD', 'NET_RAW'],
      SecurityOpt: ['no-new-privileges'],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
    },
  }
  await engine
    .ask((docker) => docker.createContainer(options))
    .catch((error: unknown) => {
      // Another request has created the container. Podman reports that with status 500.
      const isTaken = causeStatus(error) === 409 || (error instanceof Error && nameTaken.test(error.message))
      if (!isTaken) throw error
    })
}

async function findMounts(
  engine: Engine,
  container: Container,
  image: Promise<void>,
): Promise<Docker.MountSettings[]> {
  const find = async (mount: Mount): Promise<Docker.MountSettings> => ({
    Type: 'volume',
    Target: mount.path,
    Source:
      mount.kind === 'volume'
        ? await findVolumeMount(engine, mount.id)
        : await findSharedMount(engine, container.clusterId, mount.kind),
    ReadOnly: mount.kind !== 'volume' && mount.readOnly,
    // Do not copy the image's files at that path into the volume.
    VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
  })
  const { runner } = engine.settings
  const hasRunner = runner === null ? null : ensureRunner(engine, runner, container.image, image)
  const [source, ...mounts] = await Promise.all([hasRunner, ...container.mounts.map(find)])
  if (source === null) return mounts
  return [...mounts, { Type: 'volume', Target: runnerPath, Source: source, ReadOnly: true }]
}

export async function stopContainer(engine: Engine, id: string): Promise<void> {
  const found = await findContainer(engine, id)
  if (found !== null) await deleteContainer(engine, found.Id)
  await leaveNetwork(engine, id)
}

export async function listContainers(engine: Engine): Promise<ContainerStatus[]> {
  const all = await listOurContainers(engine)
  const found = all.filter(({ Labels }) => isKind('container', Labels))
  return Promise.all(
    found.map(async (container) => ({
      id: container.Labels[label.id] ?? '',
      clusterId: container.Labels[label.cluster] ?? '',
      exitStatus: ['exited', 'dead'].includes(container.State) ? await exitStatusOf(engine, container) : null,
    })),
  )
}

/** Read from the list's text, `Exited (0) 5 seconds ago`. A container deleted meanwhile counts as killed. */
async function exitStatusOf(engine: Engine, { Id, Status }: Docker.ContainerInfo): Promise<number> {
  const status = /^Exited \((\d+)\)/.exec(Status)?.[1]
  if (status !== undefined) return Number(status)
  const found = await engine.ask((docker) => docker.getContainer(Id).inspect()).catch(nullIfNotFound)
  return found?.State.ExitCode ?? 137
}

export async function readOutput(engine: Engine, id: string): Promise<string> {
  const found = await findContainer(engine, id)
  if (found === null) throw new HostedNotFound(`There is no container ${id}.`)
  const log = await engine.ask((docker) =>
    docker.getContainer(found.Id).logs({ stdout: true, stderr: true, follow: false, tail: 2000 }),
  )
  return withoutHeaders(log).subarray(-mostOutputBytes).toString('utf8')
}

/** Each piece has a header of 8 bytes: its stream and its length. */
function withoutHeaders(log: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at + 8 <= log.length;) {
    const end = at + 8 + log.readUInt32BE(at + 4)
    pieces.push(log.subarray(at + 8, end))
    at = end
  }
  return Buffer.concat(pieces)
}

/** null also if another installation owns it. */
async function findContainer(engine: Engine, id: string): Promise<Docker.ContainerInspectInfo | null> {
  const found = await engine.ask((docker) => docker.getContainer(nameOf(id)).inspect()).catch(nullIfNotFound)
  return found !== null && isOurs(engine, found.Config.Labels) ? found : null
}
