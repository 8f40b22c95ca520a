// From a graph of numbered nodes to layers: every edge leads to a later layer. Pure, without sizes.

export type Edge = readonly [from: number, to: number]

/** Beyond this the table of who reaches whom is too big, and transitive edges stay. */
const mostReducedNodes = 8000

interface Layered {
  /** The layer of each node. */
  layerOf: Int32Array
  layerCount: number
  /** Without the edges that others imply and without those that would close a circle. */
  edges: Edge[]
}

export function findLayers(nodeCount: number, edges: readonly Edge[]): Layered {
  const order = sortTopologically(nodeCount, edges)
  const rank = new Int32Array(nodeCount)
  for (const [at, node] of order.entries()) rank[node] = at
  const forward = uniqueEdges(nodeCount, edges).filter(([from, to]) => at(rank, from) < at(rank, to))
  const layerOf = longestPaths(nodeCount, order, forward)
  const kept = nodeCount > mostReducedNodes ? forward : dropTransitive(nodeCount, order, layerOf, forward)
  let layerCount = 0
  for (const layer of layerOf) layerCount = Math.max(layerCount, layer + 1)
  return { layerOf, layerCount, edges: kept }
}

const at = (array: Int32Array, index: number): number => array[index] ?? 0

function uniqueEdges(nodeCount: number, edges: readonly Edge[]): Edge[] {
  const seen = new Set<number>()
  return edges.filter(([from, to]) => {
    const name = from * nodeCount + to
    if (from === to || seen.has(name)) return false
    seen.add(name)
    return true
  })
}

export function neighbours(nodeCount: number, edges: readonly Edge[], end: 0 | 1): number[][] {
  const lists: number[][] = Array.from({ length: nodeCount }, () => [])
  for (const edge of edges) lists[edge[end === 0 ? 1 : 0]]?.push(edge[end])
  return lists
}

/** Nodes on a circle come last, in their own order. */
function sortTopologically(nodeCount: number, edges: readonly Edge[]): number[] {
  const open = new Int32Array(nodeCount)
  for (const [, to] of edges) open[to] = at(open, to) + 1
  const after = neighbours(nodeCount, edges, 1)
  const order: number[] = []
  for (let node = 0; node < nodeCount; node++) if (at(open, node) === 0) order.push(node)
  for (const node of order) {
    for (const next of after[node] ?? []) {
      open[next] = at(open, next) - 1
      if (at(open, next) === 0) order.push(next)
    }
  }
  for (let node = 0; node < nodeCount; node++) if (at(open, node) > 0) order.push(node)
  return order
}

function longestPaths(nodeCount: number, order: readonly number[], edges: readonly Edge[]): Int32Array {
  const layerOf = new Int32Array(nodeCount)
  const before = neighbours(nodeCount, edges, 0)
  for (const node of order) {
    let layer = 0
    for (const each of before[node] ?? []) layer = Math.max(layer, at(layerOf, each) + 1)
    layerOf[node] = layer
  }
  return layerOf
}

/** An edge goes when a longer way leads to the same node. Each node has a bit set of the nodes that it reaches. */
function dropTransitive(
  nodeCount: number,
  order: readonly number[],
  layerOf: Int32Array,
  edges: readonly Edge[],
): Edge[] {
  const words = (nodeCount + 31) >>> 5
  const reach = new Int32Array(nodeCount * words)
  const after = neighbours(nodeCount, edges, 1)
  const kept: Edge[] = []
  for (const node of order.toReversed()) {
    const own = node * words
    const nearFirst = (after[node] ?? []).toSorted((a, b) => at(layerOf, a) - at(layerOf, b))
    for (const next of nearFirst) {
      if ((at(reach, own + (next >>> 5)) >>> (next & 31)) & 1) continue
      kept.push([node, next])
      const theirs = next * words
      for (let word = 0; word < words; word++) {
        reach[own + word] = at(reach, own + word) | at(reach, theirs + word)
      }
      reach[own + (next >>> 5)] = at(reach, own + (next >>> 5)) | (1 << (next & 31))
    }
  }
  return kept
}
