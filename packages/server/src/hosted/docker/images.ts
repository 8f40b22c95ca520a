import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import tar from 'tar-stream'
import { buildkitLog } from '../buildkit-log.ts'
import {
  HostedInUse,
  HostedNotFound,
  HostedRefused,
  HostedUnavailable,
  type ImageBuild,
  type Limits,
} from '../driver.ts'
import { ignoreNotFound, nullIfNotFound } from '../engine-request.ts'
import { isImageName } from '../image-name.ts'
import { isOurs, label, labels } from '../labels.ts'
import { causeStatus, ours, reasonOf, type Engine } from './engine.ts'
import { joinBuildNetwork, leaveBuildNetwork } from './networks.ts'

/** A label on every image, by which an aborted build recognizes its own result. */
const buildLabel = 'millrace.build'
const pullSeconds = 600
/** Longer than an engine takes between two steps. */
const stepSeconds = 600

interface BuildMessage {
  stream?: string
  error?: string
  id?: string
  aux?: unknown
}

export async function buildImage(engine: Engine, build: ImageBuild): Promise<void> {
  const { ref, signal } = build
  signal.throwIfAborted()
  const buildId = randomUUID()
  try {
    await follow(await sendBuild(engine, build, buildId), build)
    const made = await findImage(engine, ref)
    if (made?.Config.Labels?.[buildLabel] !== buildId) {
      throw new HostedUnavailable('The engine ended the build without an image.')
    }
  } catch (error) {
    await deleteResult(engine, ref, buildId)
    signal.throwIfAborted()
    throw error
  } finally {
    await deleteRemainsAfterBuild(engine, ref)
  }
}

async function sendBuild(engine: Engine, build: ImageBuild, buildId: string): Promise<Readable> {
  // With a firewall, builds must run in a network that it covers.
  const hasFirewall = engine.settings.allowed !== null
  const marks = { ...labels(engine, 'image', build.clusterId, build.ref), [buildLabel]: buildId }
  const isPodman = await engine.isPodman()
  const isClassic = hasFirewall && !isPodman
  if (isClassic) refuseHeredocs(build.dockerfile)
  const network = isPodman || hasFirewall ? await joinBuildNetwork(engine, build) : null
  const context = tar.pack()
  context.entry({ name: 'Dockerfile' }, isClassic ? addLabels(build.dockerfile, marks) : build.dockerfile)
  context.finalize()
  const limits = await buildLimits(engine, build.limits)
  const stream = await engine.ask((docker) =>
    docker.buildImage(Readable.from(context), {
      t: build.ref,
      labels: marks,
      rm: true,
      forcerm: true,
      abortSignal: build.signal,
      ...limits,
      ...(isPodman ? podmanOptions(network) : dockerOptions(network)),
    }),
  )
  // An HTTP response; the published types name only its oldest interface.
  return stream as Readable
}

const cpuPeriod = 100_000

/** Docker's older builder and Podman apply these limits, BuildKit does not. None can limit processes. */
async function buildLimits(engine: Engine, choices: readonly Limits[]) {
  const { NCPU, MemTotal } = await engine.ask((docker): Promise<EngineInfo> => docker.info())
  const fitting = choices.filter(({ cpus, memoryMb }) => cpus <= NCPU && memoryMb * 2 ** 20 <= MemTotal)
  const { cpus, memoryMb } = fitting.at(-1) ?? choices[0] ?? { cpus: NCPU, memoryMb: MemTotal / 2 ** 20 }
  const memory = memoryMb * 2 ** 20
  // The same as the memory limit, which allows no swap.
  return { memory, memswap: memory, cpuperiod: cpuPeriod, cpuquota: cpus * cpuPeriod }
}

interface EngineInfo {
  NCPU: number
  MemTotal: number
}

/**
 * Without layers Podman stores nothing of a failed build. It ignores Docker's `networkmode` and would run instructions in the
 * machine's own network, so the network is set with `nsoptions`.
 */
const podmanOptions = (network: string | null) => ({
  layers: false,
  nsoptions: JSON.stringify([{ Name: 'network', Host: false, Path: network }]),
})

/** BuildKit always uses Docker's default network, which the firewall does not cover, so the older builder is used with one. */
const dockerOptions = (network: string | null) =>
  network === null ? { version: '2' as const } : { version: '1' as const, networkmode: network }

/** The older builder stores an image of each step. A LABEL after FROM, the first line, makes them findable. */
function addLabels(dockerfile: string, marks: Record<string, string>): string {
  const [from = '', ...instructions] = dockerfile.split('\n')
  const label = Object.entries(marks).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [from, `LABEL ${label.join(' ')}`, ...instructions].join('\n')
}

/** The older builder reads the lines of a here-document as instructions, or ignores them. */
function refuseHeredocs(dockerfile: string): void {
  const line = dockerfile.split('\n').find((text) => /^[^#]*(^|\s)\d*<<-?["']?\w/.test(text))
  if (line === undefined) return
  throw new HostedRefused(
    `Docker's builder that keeps to the fence knows no here-documents (${line.trim()}). ` +
      "Write the lines with RUN printf '%s\\n' … > FILE, or one RUN for each command.",
  )
}

/** Reads the builder's messages to the end. Throws HostedRefused if one is an error. */
async function follow(stream: Readable, { onLog, signal }: ImageBuild): Promise<void> {
  const readTrace = buildkitLog()
  let [rest, error] = ['', '']
  const readMessage = (line: string) => {
    if (line.trim() === '') return
    const message = JSON.parse(line) as BuildMessage
    if (message.stream !== undefined) onLog(message.stream)
    if (message.id === 'moby.buildkit.trace' && typeof message.aux === 'string') onLog(readTrace(message.aux))
    if (message.error !== undefined) error = message.error
  }
  const end = () => stream.destroy()
  signal.addEventListener('abort', end)
  try {
    stream.setEncoding('utf8')
    for await (const piece of stream) {
      const lines = (rest + String(piece)).split('\n')
      rest = lines.pop() ?? ''
      lines.forEach(readMessage)
    }
    readMessage(rest)
  } catch (cause) {
    throw new HostedUnavailable(`The build was cut off: ${reasonOf(cause)}`, { cause })
  } finally {
    signal.removeEventListener('abort', end)
  }
  if (error === '') return
  onLog(`${error}\n`)
  // Another attempt to build the same image has ended and deleted the network.
  if (/network not found|network \S+ not found/i.test(error)) throw new HostedUnavailable(error)
  throw new HostedRefused(error)
}

/** Deletes the image if this build created it. If the engine does not answer, the next build does. */
async function deleteResult(engine: Engine, ref: string, buildId: string): Promise<void> {
  const made = await findImage(engine, ref).catch(() => null)
  if (made?.Config.Labels?.[buildLabel] === buildId) await deleteImage(engine, ref).catch(() => {})
}

export async function deleteImage(engine: Engine, ref: string): Promise<void> {
  const image = await findImage(engine, ref)
  if (image !== null && isOurs(engine, image.Config.Labels)) {
    await engine
      .ask((docker) => docker.getImage(ref).remove())
      .catch((error: unknown) => {
        if (causeStatus(error) !== 409) return ignoreNotFound(error)
        throw new HostedInUse(
          `A container is made from the image ${ref}; it can be deleted when that has ended.`,
        )
      })
  }
  await deleteRemains(engine, ref)
}

export async function listImages(engine: Engine): Promise<string[]> {
  const images = await engine.ask((docker) => docker.listImages({ filters: ours(engine) }))
  return images.flatMap(({ Labels, RepoTags }) => {
    const ref = Labels?.[label.id]
    return ref !== undefined && RepoTags?.includes(ref) ? ref : []
  })
}

/** Retries, since an engine needs a moment to end an aborted step. The next build, or deleteImage, deletes the rest. */
async function deleteRemainsAfterBuild(engine: Engine, ref: string): Promise<void> {
  for (let tried = 1; tried <= 20; tried++) {
    const isGone = await deleteRemains(engine, ref).catch(() => null)
    if (isGone !== false) return
    await delay(500)
  }
}

/**
 * Deletes what builds of this image leave besides it: replaced images, steps, a network. False: another build uses some of
 * these, and deletes them when it ends.
 */
async function deleteRemains(engine: Engine, ref: string): Promise<boolean> {
  try {
    for (const { Id, Labels } of await listUnnamed(engine)) {
      if (Labels?.[label.id] === ref) await deleteUnnamed(engine, Id)
    }
    await leaveBuildNetwork(engine, ref)
    return true
  } catch (error) {
    if ([403, 409].includes(causeStatus(error) ?? 0)) return false
    throw error
  }
}

/** Deletes the steps of abandoned builds. A running step has a container, so the engine refuses to delete it. */
export async function deleteOldSteps(engine: Engine): Promise<void> {
  for (const { Id, Created } of await listUnnamed(engine)) {
    if (Created * 1000 < Date.now() - stepSeconds * 1000) await deleteUnnamed(engine, Id).catch(() => {})
  }
}

const listUnnamed = (engine: Engine) =>
  engine.ask((docker) => docker.listImages({ filters: { ...ours(engine), dangling: ['true'] } }))

const deleteUnnamed = (engine: Engine, id: string) =>
  engine.ask((docker) => docker.getImage(id).remove()).catch(ignoreNotFound)

const findImage = (engine: Engine, ref: string) =>
  engine.ask((docker) => docker.getImage(ref).inspect()).catch(nullIfNotFound)

/** Pulls the image unless the engine has it. Images that were built here cannot be pulled. */
export async function ensureImage(engine: Engine, ref: string): Promise<void> {
  if (!isImageName(ref)) throw new HostedRefused(`"${ref}" is not the name of an image.`)
  if ((await findImage(engine, ref)) !== null) return
  if (ref.startsWith(`${engine.settings.registry}/`) || ref.startsWith('localhost/')) {
    throw new HostedNotFound(`There is no image ${ref}.`)
  }
  await engine.ask(async (docker) => {
    const stream = await docker.pull(ref)
    await new Promise((resolve, reject) => {
      docker.modem.followProgress(stream, (error, done) => (error ? reject(error) : resolve(done)))
    })
  }, pullSeconds)
}
