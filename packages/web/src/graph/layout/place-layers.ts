// Places boxes in layers. "Along" is the direction of the edges, "across" the direction of a layer.
import { findLayers, type Edge } from './layers.ts'
import { orderLayers, placeAlong } from './order-layers.ts'

export interface Box {
  along: number
  across: number
  /** Stretches over all its neighbours, as far as its layer has room. */
  isBarrier: boolean
}

interface Place {
  along: number
  across: number
  acrossSize: number
}

export interface Placed {
  places: Place[]
  /** Each edge with its points: pairs of along and across. */
  routes: Array<{ edge: Edge; points: Array<readonly [number, number]> }>
  along: number
  across: number
}

const gapAlong = 48
const gapAcross = 16
/** Edges over several layers bend around nodes up to this many bends in all. */
const mostBends = 5000

export function placeLayers(boxes: readonly Box[], given: readonly Edge[]): Placed {
  const { layerOf, layerCount, edges } = findLayers(boxes.length, given)
  const layers: number[][] = Array.from({ length: layerCount }, () => [])
  for (const [node, layer] of layerOf.entries()) layers[layer]?.push(node)
  const { itemCount, links, bendsOf } = addBends(boxes.length, layerOf, layers, edges)
  const sizes = new Float64Array(itemCount)
  for (const [node, { across }] of boxes.entries()) sizes[node] = across
  orderLayers(layers, itemCount, links)
  const centres = placeAlong(layers, sizes, links, gapAcross)

  const starts: number[] = []
  const ends: number[] = []
  let along = 0
  for (const layer of layers) {
    const size = layer.reduce((most, item) => Math.max(most, boxes[item]?.along ?? 0), 0)
    starts.push(along)
    ends.push(along + size)
    along += size + gapAlong
  }
  const spans = boxes.map(({ across }, node): [number, number] => {
    const centre = centres[node] ?? 0
    return [centre - across / 2, centre + across / 2]
  })
  for (const [node, { isBarrier }] of boxes.entries()) {
    const span = spans[node]
    if (!isBarrier || span === undefined) continue
    stretch(node, span, links, centres, sizes)
    keepApart(node, span, layers[layerOf[node] ?? 0] ?? [], centres, sizes)
  }
  let lowest = Infinity
  for (const [from] of spans) lowest = Math.min(lowest, from)
  for (const centre of centres.subarray(boxes.length)) lowest = Math.min(lowest, centre)
  const shift = boxes.length === 0 ? 0 : -lowest

  const layerAt = (node: number) => layerOf[node] ?? 0
  const centreOf = (node: number, other: number) => {
    const [from, to] = spans[node] ?? [0, 0]
    const isBarrier = boxes[node]?.isBarrier === true
    return isBarrier ? Math.min(to, Math.max(from, centres[other] ?? 0)) : (from + to) / 2
  }
  const routes = edges.map((edge) => {
    const [from, to] = edge
    const bends = bendsOf.get(edge) ?? []
    const startAcross = centreOf(from, bends[0] ?? to) + shift
    const endAcross = centreOf(to, bends.at(-1) ?? from) + shift
    const start = (starts[layerAt(from)] ?? 0) + (boxes[from]?.along ?? 0)
    const points: Array<readonly [number, number]> = [[start, startAcross]]
    points.push([ends[layerAt(from)] ?? 0, startAcross])
    for (const [at, bend] of bends.entries()) {
      const layer = layerAt(from) + 1 + at
      const across = (centres[bend] ?? 0) + shift
      points.push([starts[layer] ?? 0, across], [ends[layer] ?? 0, across])
    }
    points.push([starts[layerAt(to)] ?? 0, endAcross])
    return { edge, points }
  })
  const places = spans.map(([from, to], node) => ({
    along: starts[layerAt(node)] ?? 0,
    across: from + shift,
    acrossSize: to - from,
  }))
  const across = spans.reduce((most, [, to]) => Math.max(most, to + shift), 0)
  return { places, routes, along: ends.at(-1) ?? 0, across }
}

/** An edge over several layers gets an item of size 0 in each layer between, so that it finds a way between the nodes. */
function addBends(nodeCount: number, layerOf: Int32Array, layers: number[][], edges: readonly Edge[]) {
  const links: Edge[] = []
  const bendsOf = new Map<Edge, number[]>()
  let itemCount = nodeCount
  for (const edge of edges) {
    const [from, to] = edge
    const [first, last] = [layerOf[from] ?? 0, layerOf[to] ?? 0]
    const bends: number[] = []
    if (itemCount - nodeCount + last - first <= mostBends) {
      for (let layer = first + 1; layer < last; layer++) {
        layers[layer]?.push(itemCount)
        bends.push(itemCount++)
      }
    }
    bendsOf.set(edge, bends)
    let previous = from
    for (const next of [...bends, to]) {
      links.push([previous, next])
      previous = next
    }
  }
  return { itemCount, links, bendsOf }
}

/** Over all items that an edge joins to it. */
function stretch(
  node: number,
  span: [number, number],
  links: readonly Edge[],
  centres: Float64Array,
  sizes: Float64Array,
): void {
  for (const [from, to] of links) {
    if (from !== node && to !== node) continue
    const other = from === node ? to : from
    const [centre, half] = [centres[other] ?? 0, (sizes[other] ?? 0) / 2]
    span[0] = Math.min(span[0], centre - half)
    span[1] = Math.max(span[1], centre + half)
  }
}

/** Not over the items beside it in its layer. */
function keepApart(
  node: number,
  span: [number, number],
  layer: readonly number[],
  centres: Float64Array,
  sizes: Float64Array,
): void {
  const own = centres[node] ?? 0
  for (const item of layer) {
    const [centre, room] = [centres[item] ?? 0, (sizes[item] ?? 0) / 2 + gapAcross / 2]
    if (centre < own) span[0] = Math.max(span[0], centre + room)
    if (centre > own) span[1] = Math.min(span[1], centre - room)
  }
}
