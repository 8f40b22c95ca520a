import { describe, expect, it } from 'vitest'
import { layOut, type Layout, type LayoutInput } from './layout.ts'
import { findLayers } from './layers.ts'
import { bigGraph, sampleGraph, sampleStep } from '../../../test/sample-graph.ts'
import type { StepKind } from '../jobs/job.ts'

const lay = (
  edges: ReadonlyArray<readonly [string, string]>,
  kinds: Readonly<Record<string, StepKind>> = {},
  more: Partial<LayoutInput> = {},
) => layOut({ ...sampleGraph(edges, [], kinds), folded: [], direction: 'right', ...more })

function node(layout: Layout, id: string) {
  const found = layout.nodes.find((each) => each.id === id)
  if (found === undefined) throw new Error(`No node ${id}`)
  return found
}

const edgesOf = ({ edges }: Layout) => edges.map(({ from, to }) => `${from} > ${to}`).sort()

function overlaps(layout: Layout): number {
  let count = 0
  for (const [at, a] of layout.nodes.entries()) {
    for (const b of layout.nodes.slice(at + 1)) {
      const isApart =
        a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y
      if (!isApart) count++
    }
  }
  return count
}

/** Repeats the same numbers in every run. */
function randomEdges(nodeCount: number, edgeCount: number): Array<[string, string]> {
  let seed = 7
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  return Array.from({ length: edgeCount }, () => {
    const from = next(nodeCount - 1)
    return [`${from}`, `${from + 1 + next(Math.min(30, nodeCount - 1 - from))}`]
  })
}

describe('layOut', () => {
  it('puts a step behind everything that it waits for, and drops transitive edges', () => {
    const layout = lay([
      ['a', 'b'],
      ['b', 'c'],
      ['a', 'c'],
    ])
    expect(edgesOf(layout)).toEqual(['a > b', 'b > c'])
    expect(node(layout, 'b').x).toBeGreaterThan(node(layout, 'a').x + node(layout, 'a').width)
    expect(node(layout, 'c').x).toBeGreaterThan(node(layout, 'b').x + node(layout, 'b').width)
    expect(new Set(layout.nodes.map(({ y }) => y)).size).toBe(1)
  })

  it('lays out from top to bottom on request', () => {
    const layout = lay([['a', 'b']], {}, { direction: 'down' })
    expect(node(layout, 'b').y).toBeGreaterThan(node(layout, 'a').y)
    expect(node(layout, 'b')).toMatchObject({ x: node(layout, 'a').x, width: 200, height: 40 })
  })

  it('stretches a wait over its neighbours, with straight edges to it', () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const layout = lay(
      [...names.map((name): [string, string] => [name, 'wait']), ['wait', 'x'], ['wait', 'y']],
      { wait: 'wait' },
    )
    const wait = node(layout, 'wait')
    expect(wait.height).toBe(node(layout, 'e').y + 40 - node(layout, 'a').y)
    for (const edge of layout.edges) expect(edge.height).toBe(0)
  })

  it('leads an edge over several layers around the nodes between', () => {
    const layout = lay([
      ['a', 'b'],
      ['b', 'c'],
      ['a', 'd'],
      ['d', 'e'],
      ['e', 'f'],
      ['c', 'f'],
      ['x', 'f'],
    ])
    const long = layout.edges.find(({ from }) => from === 'x')
    const [, across] = /L\S+ (\S+)C/.exec(long?.path.slice(long.path.indexOf('C') + 1) ?? '') ?? []
    for (const { x, y, height, id } of layout.nodes) {
      if (x !== node(layout, 'b').x) continue
      expect({ id, isHit: Number(across) > y && Number(across) < y + height }).toEqual({ id, isHit: false })
    }
  })

  it('frames the steps of a group, and shows a folded one as one node', () => {
    const steps = [
      sampleStep('a'),
      sampleStep('g', { kind: 'group' }),
      sampleStep('b', { group_id: 'g' }),
      sampleStep('c', { group_id: 'g' }),
      sampleStep('d'),
    ]
    const edges = [
      ['a', 'b'],
      ['b', 'c'],
      ['g', 'd'],
    ]
    const open = layOut({ steps, edges, folded: [], direction: 'right' })
    const [frame] = open.frames
    expect(frame?.id).toBe('g')
    for (const id of ['b', 'c']) {
      const { x, y } = node(open, id)
      expect(x).toBeGreaterThan(frame?.x ?? Infinity)
      expect(y).toBeGreaterThan(frame?.y ?? Infinity)
    }
    expect(edgesOf(open)).toEqual(['a > g', 'b > c', 'g > d'])
    const folded = layOut({ steps, edges, folded: ['g'], direction: 'right' })
    expect(folded.nodes.map(({ id }) => id)).toEqual(['a', 'g', 'd'])
    expect(edgesOf(folded)).toEqual(['a > g', 'g > d'])
  })

  it('survives circles, edges to nowhere and no steps at all', () => {
    expect(
      lay([
        ['a', 'b'],
        ['b', 'a'],
      ]).nodes,
    ).toHaveLength(2)
    expect(layOut({ steps: [], edges: [['x', 'y']], folded: [], direction: 'right' })).toMatchObject({
      nodes: [],
      width: 0,
    })
  })

  it('lets no nodes overlap, in wide, deep and tangled graphs', () => {
    const big = bigGraph(150, 1)
    const wide = layOut({ ...big, folded: [], direction: 'right' })
    const tangled = lay(randomEdges(300, 700))
    const deep = lay(Array.from({ length: 200 }, (_, at): [string, string] => [`${at}`, `${at + 1}`]))
    expect([overlaps(wide), overlaps(tangled), overlaps(deep)]).toEqual([0, 0, 0])
    expect(tangled.nodes.every(({ x, y }) => x >= 0 && y >= 0)).toBe(true)
  })
})

describe('findLayers', () => {
  it('keeps reachability when it drops edges', () => {
    const edges = randomEdges(120, 900).map(([from, to]): [number, number] => [Number(from), Number(to)])
    const reach = (list: ReadonlyArray<readonly [number, number]>) => {
      const reached = Array.from({ length: 120 }, () => new Set<number>())
      for (const [from, to] of list.toSorted((a, b) => b[0] - a[0])) {
        reached[from].add(to)
        for (const far of reached[to]) reached[from].add(far)
      }
      return reached
    }
    const kept = findLayers(120, edges).edges
    expect(kept.length).toBeLessThan(new Set(edges.map(String)).size)
    expect(reach(kept)).toEqual(reach(edges))
  })
})
