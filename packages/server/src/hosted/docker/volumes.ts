/*
 * Volumes that are copied on write, out of an engine's plain ones. What a job writes lies in a plain volume of its
 * own, a layer. A kept volume is a list of layers, newest first, written down in the labels of an empty volume, its
 * `kept` mark. A copy of it is an overlay file system that the engine mounts: those layers below, a new one on top.
 * Layers live as long as some mark names them. Long lists are melted into one layer when they are kept.
 *
 * Marks are made last and removed first, so a layer that no mark names is what a dying process left.
 */
import { removeHelpers, runHelper } from './helper.ts'
import { label, labels, type Engine } from './engine.ts'
import { ensureNamed, findNamed, listNamed, removeNamed, type NamedVolume } from './named-volumes.ts'
import {
  HostedNotFound,
  HostedRefused,
  HostedUnavailable,
  type AttachedVolume,
  type VolumeStatus,
} from '../driver.ts'

/** The kernel takes one page of options for a mount; a layer's path has about a hundred characters. */
const mostLayers = 8
const mostOptionBytes = 4000

const partLabel = 'millrace.part'
const layersLabel = 'millrace.layers'
const sizeLabel = 'millrace.size-mb'

type Part = 'layer' | 'work' | 'melted' | 'attached' | 'kept'

const nameOf = (id: string, part: Part) => `millrace-${id}-${part}`
const partOf = (volume: NamedVolume) => volume.labels[partLabel] ?? ''
const idOf = (volume: NamedVolume) => volume.labels[label.id] ?? ''
const layersOf = (mark: NamedVolume) => (mark.labels[layersLabel] ?? '').split(',').filter(Boolean)
const isMark = (volume: NamedVolume) => ['attached', 'kept'].includes(partOf(volume))

export async function attachVolume(engine: Engine, { id, clusterId, from }: AttachedVolume): Promise<void> {
  if ((await findOurs(engine, id, 'attached')) !== null) return
  const parent = from === null ? null : await findOurs(engine, from, 'kept')
  if (from !== null && parent === null) throw new HostedNotFound(`There is no kept volume ${from}.`)
  const below = parent === null ? [] : layersOf(parent)
  const mark = (part: Part) => ({ ...labels(engine, 'volume', clusterId, id), [partLabel]: part })
  const layer = await ensureNamed(engine, nameOf(id, 'layer'), mark('layer'))
  const attached = { ...mark('attached'), [layersLabel]: [layer.name, ...below].join(',') }
  if (below.length === 0) {
    await ensureNamed(engine, nameOf(id, 'attached'), attached)
    return
  }
  const work = await ensureNamed(engine, nameOf(id, 'work'), mark('work'))
  const lower = await Promise.all(below.map((name) => getNamed(engine, name)))
  const options = `lowerdir=${lower.map(pathOf).join(':')},upperdir=${pathOf(layer)},workdir=${pathOf(work)}`
  if (options.length > mostOptionBytes)
    throw new HostedRefused('The paths of the engine’s volumes are too long.')
  const overlay = { type: 'overlay', device: 'overlay', o: options }
  await ensureNamed(engine, nameOf(id, 'attached'), attached, overlay)
}

/** The name of what a container mounts. */
export async function findVolumeMount(engine: Engine, id: string): Promise<string> {
  const attached = await findOurs(engine, id, 'attached')
  if (attached === null) throw new HostedNotFound(`There is no attached volume ${id}.`)
  return mountOf(attached)
}

/** With one layer there is nothing to lay over anything: the layer itself is mounted. */
const mountOf = (attached: NamedVolume): string => {
  const [top = '', below] = layersOf(attached)
  return below === undefined ? top : attached.name
}

export async function snapshotVolume(
  engine: Engine,
  id: string,
  helperImage: string,
): Promise<{ sizeMb: number }> {
  const already = await findOurs(engine, id, 'kept')
  if (already !== null) return { sizeMb: Number(already.labels[sizeLabel]) }
  const attached = await findOurs(engine, id, 'attached')
  if (attached === null) throw new HostedNotFound(`There is no attached volume ${id}.`)
  const clusterId = attached.labels[label.cluster] ?? ''
  const mark = (part: Part) => ({ ...labels(engine, 'volume', clusterId, id), [partLabel]: part })
  const from = { volume: mountOf(attached), path: '/from', readOnly: true }
  let layers = layersOf(attached)
  let output: string
  if (layers.length >= mostLayers) {
    const melted = await ensureNamed(engine, nameOf(id, 'melted'), mark('melted'))
    const to = { volume: melted.name, path: '/to', readOnly: false }
    output = await runHelper(engine, helperImage, id, 'cp -a /from/. /to/ && du -sm /to', [from, to])
    layers = [melted.name]
  } else {
    output = await runHelper(engine, helperImage, id, 'du -sm /from', [from])
  }
  const sizeMb = Number.parseInt(output, 10)
  if (Number.isNaN(sizeMb)) throw new HostedUnavailable(`The size of a volume could not be read: ${output}`)
  const kept = { ...mark('kept'), [layersLabel]: layers.join(','), [sizeLabel]: String(sizeMb) }
  await ensureNamed(engine, nameOf(id, 'kept'), kept)
  return { sizeMb }
}

export async function detachVolume(engine: Engine, id: string): Promise<void> {
  await forget(engine, id, 'attached')
}

export async function deleteVolume(engine: Engine, id: string): Promise<void> {
  await forget(engine, id, 'kept')
}

async function forget(engine: Engine, id: string, part: 'attached' | 'kept'): Promise<void> {
  const before = await listNamed(engine, 'volume')
  const mark = before.find((volume) => idOf(volume) === id && partOf(volume) === part)
  if (mark !== undefined) await release(engine, id, mark.name)
  const marks = before.filter((volume) => isMark(volume) && volume !== mark)
  const named = new Set(marks.flatMap(layersOf))
  const isAttached = marks.some((volume) => idOf(volume) === id && partOf(volume) === 'attached')
  const isFree = (volume: NamedVolume) => {
    if (isMark(volume) || named.has(volume.name)) return false
    if (mark !== undefined && layersOf(mark).includes(volume.name)) return true
    return idOf(volume) === id && !isAttached
  }
  for (const { name } of before.filter(isFree)) await release(engine, id, name)
}

/** A helper that was cut off does not stand in the way. */
async function release(engine: Engine, id: string, name: string): Promise<void> {
  if (await removeNamed(engine, name)) return
  await removeHelpers(engine, id)
  if (await removeNamed(engine, name)) return
  throw new HostedUnavailable(`A container still has the volume ${id}.`)
}

export async function listVolumes(engine: Engine): Promise<VolumeStatus[]> {
  const all = await listNamed(engine, 'volume')
  const named = new Set(all.filter(isMark).flatMap(layersOf))
  const byId = new Map<string, VolumeStatus>()
  for (const volume of all) {
    const id = idOf(volume)
    const status = byId.get(id) ?? {
      id,
      clusterId: volume.labels[label.cluster] ?? '',
      isAttached: false,
      isKept: false,
    }
    const part = partOf(volume)
    if (part === 'kept') status.isKept = true
    // What was left half made is detached like what is attached.
    else if (part === 'attached' || !named.has(volume.name)) status.isAttached = true
    byId.set(id, status)
  }
  return [...byId.values()].filter(({ isAttached, isKept }) => isAttached || isKept)
}

async function findOurs(engine: Engine, id: string, part: Part): Promise<NamedVolume | null> {
  const found = await findNamed(engine, nameOf(id, part))
  return found?.labels[label.installation] === engine.installationId ? found : null
}

async function getNamed(engine: Engine, name: string): Promise<NamedVolume> {
  const found = await findNamed(engine, name)
  if (found === null) throw new HostedNotFound(`There is no volume ${name}.`)
  return found
}

/** In the options of a mount these would end the path. */
function pathOf({ path }: NamedVolume): string {
  if (/[,:\\]/.test(path))
    throw new HostedRefused(`The engine keeps its volumes under ${path}, which has a comma or a colon.`)
  return path
}
