// Where the arrow keys lead from a node: along the edges, and to its neighbours in the same layer.
import type { Direction } from './edge-path.ts'
import type { Layout, LayoutNode } from './layout.ts'

export type Arrow = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'

export const isArrow = (key: string): key is Arrow => /^Arrow(Left|Right|Up|Down)$/.test(key)

type Move = 'before' | 'after' | 'previous' | 'next'

const MOVES: Record<Direction, Record<Arrow, Move>> = {
  right: { ArrowLeft: 'before', ArrowRight: 'after', ArrowUp: 'previous', ArrowDown: 'next' },
  down: { ArrowUp: 'before', ArrowDown: 'after', ArrowLeft: 'previous', ArrowRight: 'next' },
}

/** An edge from or to a group's frame stands for its steps. null: the arrow leads nowhere. */
export function walk(layout: Layout, direction: Direction, id: string, arrow: Arrow): string | null {
  const here = layout.nodes.find((node) => node.id === id)
  if (here === undefined) return null
  const along = (node: LayoutNode) => (direction === 'right' ? node.x : node.y)
  const across = (node: LayoutNode) =>
    direction === 'right' ? node.y + node.height / 2 : node.x + node.width / 2
  const move = MOVES[direction][arrow]
  if (move === 'before' || move === 'after') {
    const [near, far] = move === 'after' ? (['from', 'to'] as const) : (['to', 'from'] as const)
    const isHere = (end: string) => end === id || isInFrame(layout, end, here)
    const ends = new Set(layout.edges.filter((edge) => isHere(edge[near])).map((edge) => edge[far]))
    const isBeyond = (node: LayoutNode) =>
      move === 'after' ? along(node) > along(here) : along(node) < along(here)
    const reached = layout.nodes.filter(
      (node) =>
        isBeyond(node) && (ends.has(node.id) || [...ends].some((end) => isInFrame(layout, end, node))),
    )
    return nearest(
      reached,
      (node) => Math.abs(along(node) - along(here)) * 1000 + Math.abs(across(node) - across(here)),
    )
  }
  const sign = move === 'next' ? 1 : -1
  const beside = layout.nodes.filter(
    (node) => along(node) === along(here) && sign * (across(node) - across(here)) > 0,
  )
  return nearest(beside, (node) => Math.abs(across(node) - across(here)))
}

function nearest(nodes: readonly LayoutNode[], distance: (node: LayoutNode) => number): string | null {
  let best: { id: string; far: number } | null = null
  for (const node of nodes) {
    const far = distance(node)
    if (best === null || far < best.far) best = { id: node.id, far }
  }
  return best?.id ?? null
}

function isInFrame({ frames }: Layout, frameId: string, { x, y }: LayoutNode): boolean {
  const frame = frames.find(({ id }) => id === frameId)
  return (
    frame !== undefined &&
    x >= frame.x &&
    x < frame.x + frame.width &&
    y >= frame.y &&
    y < frame.y + frame.height
  )
}
