import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import tar from 'tar-stream'
import { buildkitLog } from '../buildkit-log.ts'
import {
  causeStatus,
  isOurs,
  label,
  labels,
  orNull,
  ours,
  reasonOf,
  unlessGone,
  type Engine,
} from './engine.ts'
import { joinBuildNetwork, leaveBuildNetwork } from './networks.ts'
import { isImageName } from '../image-name.ts'
import {
  HostedInUse,
  HostedNotFound,
  HostedRefused,
  HostedUnavailable,
  type ImageBuild,
  type Limits,
} from '../driver.ts'

/** Set on every image, so that a build that was broken off knows what it made. */
const buildLabel = 'millrace.build'
const pullSeconds = 600
/** From one step to the next it takes an engine much less. */
const stepSeconds = 600

interface Said {
  stream?: string
  error?: string
  id?: string
  aux?: unknown
}

export async function buildImage(engine: Engine, build: ImageBuild, isFenced: boolean): Promise<void> {
  const { ref, signal } = build
  signal.throwIfAborted()
  const buildId = randomUUID()
  try {
    await follow(await sendBuild(engine, build, buildId, isFenced), build)
    const made = await findImage(engine, ref)
    if (made?.Config.Labels?.[buildLabel] !== buildId) {
      throw new HostedUnavailable('The engine ended the build without an image.')
    }
  } catch (error) {
    await throwAway(engine, ref, buildId)
    signal.throwIfAborted()
    throw error
  } finally {
    await removeOwnRemains(engine, ref)
  }
}

async function sendBuild(
  engine: Engine,
  build: ImageBuild,
  buildId: string,
  isFenced: boolean,
): Promise<Readable> {
  const marks = { ...labels(engine, 'image', build.clusterId, build.ref), [buildLabel]: buildId }
  const isPodman = await engine.isPodman()
  const isClassic = isFenced && !isPodman
  if (isClassic) refuseHeredocs(build.dockerfile)
  const network = isPodman || isFenced ? await joinBuildNetwork(engine, build) : null
  const context = tar.pack()
  context.entry({ name: 'Dockerfile' }, isClassic ? markAll(build.dockerfile, marks) : build.dockerfile)
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
  // An http response, which the published types call by its oldest interface.
  return stream as Readable
}

const cpuPeriod = 100_000

/** BuildKit takes no notice of them; Docker's older builder and Podman do. Neither can limit processes. */
async function buildLimits(engine: Engine, choices: readonly Limits[]) {
  const { NCPU, MemTotal } = await engine.ask((docker): Promise<EngineInfo> => docker.info())
  const fitting = choices.filter(({ cpus, memoryMb }) => cpus <= NCPU && memoryMb * 2 ** 20 <= MemTotal)
  const { cpus, memoryMb } = fitting.at(-1) ?? choices[0] ?? { cpus: NCPU, memoryMb: MemTotal / 2 ** 20 }
  const memory = memoryMb * 2 ** 20
  // The same again: no swap on top.
  return { memory, memswap: memory, cpuperiod: cpuPeriod, cpuquota: cpus * cpuPeriod }
}

interface EngineInfo {
  NCPU: number
  MemTotal: number
}

/**
 * Without layers Podman keeps nothing of a build that fails. It takes no notice of a network's name where Docker wants
 * it, and would carry out instructions in the machine's own network.
 */
const podmanOptions = (network: string | null) => ({
  layers: false,
  nsoptions: JSON.stringify([{ Name: 'network', Host: false, Path: network }]),
})

/** Docker's BuildKit knows one network only, which others have containers in: what is fenced takes the older builder. */
const dockerOptions = (network: string | null) =>
  network === null ? { version: '2' as const } : { version: '1' as const, networkmode: network }

/** The older builder keeps an image of each step. Marked behind FROM, which is the first line, they can be found. */
function markAll(dockerfile: string, marks: Record<string, string>): string {
  const [from = '', ...instructions] = dockerfile.split('\n')
  const label = Object.entries(marks).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [from, `LABEL ${label.join(' ')}`, ...instructions].join('\n')
}

/** It takes what stands in them for instructions, or for nothing. */
function refuseHeredocs(dockerfile: string): void {
  const line = dockerfile.split('\n').find((text) => /^[^#]*(^|\s)\d*<<-?["']?\w/.test(text))
  if (line === undefined) return
  throw new HostedRefused(
    `Docker's builder that keeps to the fence knows no here-documents (${line.trim()}). ` +
      "Write the lines with RUN printf '%s\\n' … > FILE, or one RUN for each command.",
  )
}

/** Until the builder has said everything. Refused where it names an error. */
async function follow(stream: Readable, { onLog, signal }: ImageBuild): Promise<void> {
  const readTrace = buildkitLog()
  let [rest, error] = ['', '']
  const hear = (line: string) => {
    if (line.trim() === '') return
    const said = JSON.parse(line) as Said
    if (said.stream !== undefined) onLog(said.stream)
    if (said.id === 'moby.buildkit.trace' && typeof said.aux === 'string') onLog(readTrace(said.aux))
    if (said.error !== undefined) error = said.error
  }
  const end = () => stream.destroy()
  signal.addEventListener('abort', end)
  try {
    stream.setEncoding('utf8')
    for await (const piece of stream) {
      const lines = (rest + String(piece)).split('\n')
      rest = lines.pop() ?? ''
      lines.forEach(hear)
    }
    hear(rest)
  } catch (cause) {
    throw new HostedUnavailable(`The build was cut off: ${reasonOf(cause)}`, { cause })
  } finally {
    signal.removeEventListener('abort', end)
  }
  if (error === '') return
  onLog(`${error}\n`)
  // Another attempt at the same image has ended and taken it along.
  if (/network not found|network \S+ not found/i.test(error)) throw new HostedUnavailable(error)
  throw new HostedRefused(error)
}

/** What this build made, if it got as far as a name. An engine that cannot be asked is left for the next build. */
async function throwAway(engine: Engine, ref: string, buildId: string): Promise<void> {
  const made = await findImage(engine, ref).catch(() => null)
  if (made?.Config.Labels?.[buildLabel] === buildId) await deleteImage(engine, ref).catch(() => {})
}

export async function deleteImage(engine: Engine, ref: string): Promise<void> {
  const image = await findImage(engine, ref)
  if (image !== null && isOurs(engine, image.Config.Labels)) {
    await engine
      .ask((docker) => docker.getImage(ref).remove())
      .catch((error: unknown) => {
        if (causeStatus(error) !== 409) return unlessGone(error)
        throw new HostedInUse(
          `A container is made from the image ${ref}; it can be deleted when that has ended.`,
        )
      })
  }
  await removeRemains(engine, ref)
}

export async function listImages(engine: Engine): Promise<string[]> {
  const images = await engine.ask((docker) => docker.listImages({ filters: ours(engine) }))
  return images.flatMap(({ Labels, RepoTags }) => {
    const ref = Labels?.[label.id]
    return ref !== undefined && RepoTags?.includes(ref) ? ref : []
  })
}

/** A step that is broken off takes an engine a moment to end. What stays goes with the next build, or with the image. */
async function removeOwnRemains(engine: Engine, ref: string): Promise<void> {
  for (let tried = 1; tried <= 20; tried++) {
    const isGone = await removeRemains(engine, ref).catch(() => null)
    if (isGone !== false) return
    await delay(500)
  }
}

/**
 * What builds of this image leave besides it: an image whose name went to a newer one, steps, a network. False: some of
 * it is in use, by a build that will look after it.
 */
async function removeRemains(engine: Engine, ref: string): Promise<boolean> {
  try {
    for (const { Id, Labels } of await listUnnamed(engine)) {
      if (Labels?.[label.id] === ref) await removeUnnamed(engine, Id)
    }
    await leaveBuildNetwork(engine, ref)
    return true
  } catch (error) {
    if ([403, 409].includes(causeStatus(error) ?? 0)) return false
    throw error
  }
}

/** Of builds that were cut off, and that nobody took up again. A step that is being carried out has a container. */
export async function removeOldSteps(engine: Engine): Promise<void> {
  for (const { Id, Created } of await listUnnamed(engine)) {
    if (Created * 1000 < Date.now() - stepSeconds * 1000) await removeUnnamed(engine, Id).catch(() => {})
  }
}

const listUnnamed = (engine: Engine) =>
  engine.ask((docker) => docker.listImages({ filters: { ...ours(engine), dangling: ['true'] } }))

/** The steps before it go with it. */
const removeUnnamed = (engine: Engine, id: string) =>
  engine.ask((docker) => docker.getImage(id).remove()).catch(unlessGone)

const findImage = (engine: Engine, ref: string) =>
  engine.ask((docker) => docker.getImage(ref).inspect()).catch(orNull)

/** Images of our own making are never elsewhere. */
export async function ensureImage(engine: Engine, ref: string, registry: string): Promise<void> {
  if (!isImageName(ref)) throw new HostedRefused(`"${ref}" is not the name of an image.`)
  if ((await findImage(engine, ref)) !== null) return
  if (ref.startsWith(`${registry}/`) || ref.startsWith('localhost/')) {
    throw new HostedNotFound(`There is no image ${ref}.`)
  }
  await engine.ask(async (docker) => {
    const stream = await docker.pull(ref)
    await new Promise((resolve, reject) => {
      docker.modem.followProgress(stream, (error, said) => (error ? reject(error) : resolve(said)))
    })
  }, pullSeconds)
}
