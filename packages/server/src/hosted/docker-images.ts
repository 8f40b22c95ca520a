import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import tar from 'tar-stream'
import { buildkitLog } from './buildkit-log.ts'
import { isOurs, label, labels, orNull, ours, reasonOf, unlessGone, type Engine } from './docker-engine.ts'
import { isImageName } from './image-name.ts'
import { HostedNotFound, HostedRefused, HostedUnavailable, type ImageBuild } from './driver.ts'

/** Set on every image, so that a build that was broken off knows what it made. */
const buildLabel = 'millrace.build'
const pullSeconds = 600

interface Said {
  stream?: string
  error?: string
  id?: string
  aux?: unknown
}

export async function buildImage(engine: Engine, build: ImageBuild): Promise<void> {
  const { ref, signal } = build
  signal.throwIfAborted()
  const replaced = await findImage(engine, ref)
  const buildId = randomUUID()
  try {
    await follow(await sendBuild(engine, build, buildId), build)
    const made = await findImage(engine, ref)
    if (made?.Config.Labels?.[buildLabel] !== buildId) {
      throw new HostedUnavailable('The engine ended the build without an image.')
    }
  } catch (error) {
    await throwAway(engine, ref, buildId)
    signal.throwIfAborted()
    throw error
  }
  // Its name has gone to the new one; nothing else would ever find it.
  if (replaced !== null) await removeImage(engine, replaced.Id)
}

async function sendBuild(engine: Engine, build: ImageBuild, buildId: string): Promise<Readable> {
  const context = tar.pack()
  context.entry({ name: 'Dockerfile' }, build.dockerfile)
  context.finalize()
  const isPodman = await engine.isPodman()
  const marks = { ...labels(engine, 'image', build.clusterId, build.ref), [buildLabel]: buildId }
  const stream = await engine.ask((docker) =>
    docker.buildImage(Readable.from(context), {
      t: build.ref,
      labels: marks,
      rm: true,
      forcerm: true,
      abortSignal: build.signal,
      // Without layers Podman keeps nothing of a build that fails; Docker's BuildKit never does.
      ...(isPodman ? { layers: false } : { version: '2' }),
    }),
  )
  // An http response, which the published types call by its oldest interface.
  return stream as Readable
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
  throw new HostedRefused(error)
}

/** What this build made, if it got as far as a name. An engine that cannot be asked is left for the next build. */
async function throwAway(engine: Engine, ref: string, buildId: string): Promise<void> {
  const made = await findImage(engine, ref).catch(() => null)
  if (made?.Config.Labels?.[buildLabel] === buildId) await deleteImage(engine, ref).catch(() => {})
}

export async function deleteImage(engine: Engine, ref: string): Promise<void> {
  const image = await findImage(engine, ref)
  if (image === null || !isOurs(engine, image.Config.Labels)) return
  // Anything but "gone" is worth another try: what stands in the way is a container that ends sooner or later.
  await engine.ask((docker) => docker.getImage(ref).remove()).catch(unlessGone)
}

export async function listImages(engine: Engine): Promise<string[]> {
  const images = await engine.ask((docker) => docker.listImages({ filters: ours(engine) }))
  return images.flatMap(({ Labels }) => Labels?.[label.id] ?? [])
}

const removeImage = (engine: Engine, id: string) =>
  engine.ask((docker) => docker.getImage(id).remove()).catch(() => {})

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
