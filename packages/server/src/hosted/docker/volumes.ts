/*
 * Copy-on-write volumes, built from an engine's plain volumes. What a job writes is in a plain volume of its own, a layer. A
 * snapshot is a list of layers, newest first, stored in the labels of an empty marker volume (`kept`). A copy is an overlay
 * file system that the engine mounts: those layers below, a new one on top. A layer is deleted with the last marker that names
 * it. A snapshot of too many layers merges them into one.
 *
 * Markers are created last and deleted first, so a layer that no marker names is left from an interrupted operation.
 */
import {
  HostedNotFound,
  HostedRefused,
  HostedUnavailable,
  type AttachedVolume,
  type VolumeStatus,
} from '../driver.ts'
import { isOurs, label, labels } from '../labels.ts'
import type { Engine } from './engine.ts'
import { deleteHelpers, runHelper } from './helper.ts'
import { deleteNamed, ensureNamed, findNamed, listNamed, type NamedVolume } from './named-volumes.ts'

/** The kernel limits the options of a mount to one page; a layer's path has about 100 characters. */
const mostLayers = 8
const mostOptionBytes = 4000

const partLabel = 'millrace.part'
const layersLabel = 'millrace.layers'
const sizeLabel = 'millrace.size-mb'

type Part = 'layer' | 'work' | 'merged' | 'attached' | 'kept'

const nameOf = (id: string, part: Part) => `millrace-${id}-${part}`
const partOf = (volume: NamedVolume) => volume.labels[partLabel] ?? ''
const idOf = (volume: NamedVolume) => volume.labels[label.id] ?? ''
const layersOf = (marker: NamedVolume) => (marker.labels[layersLabel] ?? '').split(',').filter(Boolean)
const isMarker = (volume: NamedVolume) => ['attached', 'kept'].includes(partOf(volume))

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

export async function findVolumeMount(engine: Engine, id: string): Promise<string> {
  const attached = await findOurs(engine, id, 'attached')
  if (attached === null) throw new HostedNotFound(`There is no attached volume ${id}.`)
  return mountOf(attached)
}

/** A single layer is mounted directly, without an overlay. */
const mountOf = (attached: NamedVolume): string => {
  const [top = '', below] = layersOf(attached)
  return below === undefined ? top : attached.name
}

export async function snapshotVolume(engine: Engine, id: string): Promise<{ sizeMb: number }> {
  const already = await findOurs(engine, id, 'kept')
  if (already !== null) return { sizeMb: Number(already.labels[sizeLabel]) }
  const attached = await findOurs(engine, id, 'attached')
  if (attached === null) throw new HostedNotFound(`There is no attached volume ${id}.`)
  const clusterId = attached.labels[label.cluster] ?? ''
  const mark = (part: Part) => ({ ...labels(engine, 'volume', clusterId, id), [partLabel]: part })
  const from = { Type: 'volume', Source: mountOf(attached), Target: '/from', ReadOnly: true } as const
  let layers = layersOf(attached)
  let output: string
  if (layers.length >= mostLayers) {
    const merged = await ensureNamed(engine, nameOf(id, 'merged'), mark('merged'))
    const to = { Type: 'volume', Source: merged.name, Target: '/to', ReadOnly: false } as const
    output = await runHelper(engine, id, 'cp -a /from/. /to/ && du -sm /to', [from, to])
    layers = [merged.name]
  } else {
    output = await runHelper(engine, id, 'du -sm /from', [from])
  }
  const sizeMb = Number.parseInt(output, 10)
  if (Number.isNaN(sizeMb)) throw new HostedUnavailable(`The size of a volume could not be read: ${output}`)
  const kept = { ...mark('kept'), [layersLabel]: layers.join(','), [sizeLabel]: String(sizeMb) }
  await ensureNamed(engine, nameOf(id, 'kept'), kept)
  return { sizeMb }
}

export async function detachVolume(engine: Engine, id: string): Promise<void> {
  await deleteMarker(engine, id, 'attached')
}

export async function deleteSnapshot(engine: Engine, id: string): Promise<void> {
  await deleteMarker(engine, id, 'kept')
}

/** Deletes the marker and the layers that only it named. */
async function deleteMarker(engine: Engine, id: string, part: 'attached' | 'kept'): Promise<void> {
  const before = await listNamed(engine, 'volume')
  const marker = before.find((volume) => idOf(volume) === id && partOf(volume) === part)
  if (marker !== undefined) await deletePart(engine, id, marker.name)
  const others = before.filter((volume) => isMarker(volume) && volume !== marker)
  const named = new Set(others.flatMap(layersOf))
  const isAttached = others.some((volume) => idOf(volume) === id && partOf(volume) === 'attached')
  const isFree = (volume: NamedVolume) => {
    if (isMarker(volume) || named.has(volume.name)) return false
    if (marker !== undefined && layersOf(marker).includes(volume.name)) return true
    return idOf(volume) === id && !isAttached
  }
  for (const { name } of before.filter(isFree)) await deletePart(engine, id, name)
}

/** A helper of an interrupted call may still use the volume, so helpers are deleted first. */
async function deletePart(engine: Engine, id: string, name: string): Promise<void> {
  if (await deleteNamed(engine, name)) return
  await deleteHelpers(engine, id)
  if (await deleteNamed(engine, name)) return
  throw new HostedUnavailable(`A container still has the volume ${id}.`)
}

export async function listVolumes(engine: Engine): Promise<VolumeStatus[]> {
  const all = await listNamed(engine, 'volume')
  const named = new Set(all.filter(isMarker).flatMap(layersOf))
  const byId = new Map<string, VolumeStatus>()
  for (const volume of all) {
    const id = idOf(volume)
    const status = byId.get(id) ?? {
      id,
      clusterId: volume.labels[label.cluster] ?? '',
      isAttached: false,
      hasSnapshot: false,
    }
    const part = partOf(volume)
    if (part === 'kept') status.hasSnapshot = true
    // Parts of an interrupted operation count as attached, so that detaching deletes them.
    else if (part === 'attached' || !named.has(volume.name)) status.isAttached = true
    byId.set(id, status)
  }
  return [...byId.values()].filter(({ isAttached, hasSnapshot }) => isAttached || hasSnapshot)
}

async function findOurs(engine: Engine, id: string, part: Part): Promise<NamedVolume | null> {
  const found = await findNamed(engine, nameOf(id, part))
  return isOurs(engine, found?.labels) ? found : null
}

async function getNamed(engine: Engine, name: string): Promise<NamedVolume> {
  const found = await findNamed(engine, name)
  if (found === null) throw new HostedNotFound(`There is no volume ${name}.`)
  return found
}

/** These characters would end the path in the options of a mount. */
function pathOf({ path }: NamedVolume): string {
  if (/[,:\\]/.test(path))
    throw new HostedRefused(`The engine keeps its volumes under ${path}, which has a comma or a colon.`)
  return path
}
