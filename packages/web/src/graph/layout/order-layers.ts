// Orders the nodes of each layer so that few edges cross, and places them along the layer.
import { neighbours, type Edge } from './layers.ts'

const sweeps = 4
const passes = 6

/** Orders each layer by the mean place of the neighbours in the layer before, then after, four times. */
export function orderLayers(layers: number[][], itemCount: number, edges: readonly Edge[]): void {
  const before = neighbours(itemCount, edges, 0)
  const after = neighbours(itemCount, edges, 1)
  const place = new Float64Array(itemCount)
  const note = (layer: readonly number[]) => {
    for (const [at, item] of layer.entries()) place[item] = at
  }
  for (const layer of layers) note(layer)
  const mean = new Float64Array(itemCount)
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isForward = sweep % 2 === 0
    const lists = isForward ? before : after
    for (const layer of isForward ? layers : layers.toReversed()) {
      for (const item of layer) mean[item] = meanOf(lists[item], place) ?? place[item] ?? 0
      layer.sort((a, b) => (mean[a] ?? 0) - (mean[b] ?? 0) || (place[a] ?? 0) - (place[b] ?? 0))
      note(layer)
    }
  }
}

function meanOf(items: readonly number[] | undefined, values: Float64Array): number | null {
  if (items === undefined || items.length === 0) return null
  let sum = 0
  for (const item of items) sum += values[item] ?? 0
  return sum / items.length
}

/** Centres along the layer: each as near to its neighbours' mean as order and gaps allow. */
export function placeAlong(
  layers: readonly number[][],
  sizes: Float64Array,
  edges: readonly Edge[],
  gap: number,
): Float64Array {
  const before = neighbours(sizes.length, edges, 0)
  const after = neighbours(sizes.length, edges, 1)
  const centres = new Float64Array(sizes.length)
  for (const layer of layers) spreadApart(layer, sizes, gap, centres, () => 0)
  for (let pass = 0; pass < passes; pass++) {
    const isForward = pass % 2 === 0
    const lists = isForward ? before : after
    for (const layer of isForward ? layers : layers.toReversed()) {
      spreadApart(layer, sizes, gap, centres, (item) => meanOf(lists[item], centres) ?? centres[item] ?? 0)
    }
  }
  return centres
}

interface Block {
  first: number
  sum: number
  count: number
}

/**
 * Least squares under a fixed order: with the gaps subtracted, the centres only have to rise, so blocks of items that
 * would overlap share their mean (pool adjacent violators).
 */
function spreadApart(
  layer: readonly number[],
  sizes: Float64Array,
  gap: number,
  centres: Float64Array,
  wanted: (item: number) => number,
): void {
  const offsets: number[] = []
  const blocks: Block[] = []
  let offset = 0
  for (const [at, item] of layer.entries()) {
    const size = sizes[item] ?? 0
    const previous = sizes[layer[at - 1] ?? -1] ?? 0
    if (at > 0) offset += (previous + size) / 2 + (previous === 0 || size === 0 ? gap / 2 : gap)
    offsets.push(offset)
    let block: Block = { first: at, sum: wanted(item) - offset, count: 1 }
    for (
      let last = blocks.at(-1);
      last && last.sum / last.count > block.sum / block.count;
      last = blocks.at(-1)
    ) {
      blocks.pop()
      block = { first: last.first, sum: last.sum + block.sum, count: last.count + block.count }
    }
    blocks.push(block)
  }
  for (const { first, sum, count } of blocks) {
    for (let at = first; at < first + count; at++) {
      const item = layer[at]
      if (item !== undefined) centres[item] = sum / count + (offsets[at] ?? 0)
    }
  }
}
