// Where the steps of a build stand in the graph. It depends on steps, edges and folded groups alone, so positions stay
// while states change.
import { boundsOf, pathOf, type Direction } from './edge-path.ts'
import type { GraphStep, StepKind } from '../jobs/job.ts'
import type { Edge } from './layers.ts'
import { placeLayers, type Box, type Placed } from './place-layers.ts'

const nodeWidth = 200
const nodeHeight = 40
const barrierSize = 16
const padding = 12
const header = 28

export interface LayoutInput {
  steps: ReadonlyArray<Pick<GraphStep, 'id' | 'kind' | 'group_id'>>
  edges: ReadonlyArray<readonly string[]>
  /** The groups that show as one node. */
  folded: readonly string[]
  direction: Direction
}

export interface Rect {
  x: number
  y: number
  width: number
  height: number
}

export interface LayoutNode extends Rect {
  id: string
  kind: StepKind
}

interface LayoutEdge extends Rect {
  from: string
  to: string
  path: string
}

export interface Layout {
  nodes: LayoutNode[]
  /** Groups that are not folded, around their steps. */
  frames: Array<Rect & { id: string }>
  edges: LayoutEdge[]
  width: number
  height: number
}

export function layOut(input: LayoutInput): Layout {
  const { steps, edges, direction } = input
  const kindOf = new Map(steps.map(({ id, kind }) => [id, kind]))
  const members = findMembers(input)
  const groupOf = new Map(steps.map(({ id, group_id }) => [id, group_id]))
  const outerOf = (id: string) => {
    const groupId = groupOf.get(id) ?? null
    return groupId !== null && kindOf.has(groupId) ? groupId : id
  }

  const insides = new Map<string, Placed>()
  for (const [groupId, ids] of members) {
    const boxes = ids.map((id) => boxOfStep(kindOf.get(id), direction))
    insides.set(groupId, placeLayers(boxes, indexEdges(ids, edges)))
  }
  const boxOf = (id: string): Box => {
    const inside = insides.get(id)
    return inside === undefined ? boxOfStep(kindOf.get(id), direction) : boxOfFrame(inside, direction)
  }

  const outer = [...new Set(steps.map(({ id }) => outerOf(id)))]
  const lifted = edges.map(([from = '', to = '']) => [outerOf(from), outerOf(to)])
  const placed = placeLayers(outer.map(boxOf), indexEdges(outer, lifted))
  const size = turn(placed.along, placed.across, direction)
  const layout: Layout = { nodes: [], frames: [], edges: [], width: size.x, height: size.y }

  const emit = (ids: readonly string[], { places, routes }: Placed, left: number, top: number) => {
    for (const [at, id] of ids.entries()) {
      const place = places[at]
      if (place === undefined) continue
      const corner = turn(place.along, place.across, direction)
      const extent = turn(boxOf(id).along, place.acrossSize, direction)
      const rect = { id, x: left + corner.x, y: top + corner.y, width: extent.x, height: extent.y }
      if (members.has(id)) layout.frames.push(rect)
      else layout.nodes.push({ ...rect, kind: kindOf.get(id) ?? 'command' })
    }
    for (const { edge, points } of routes) {
      const [from, to] = [ids[edge[0]] ?? '', ids[edge[1]] ?? '']
      const screen = points.map(([along, across]) => {
        const { x, y } = turn(along, across, direction)
        return { x: left + x, y: top + y }
      })
      layout.edges.push({ from, to, path: pathOf(screen, direction), ...boundsOf(screen) })
    }
  }
  emit(outer, placed, 0, 0)
  for (const { id, x, y } of layout.frames) {
    const inside = insides.get(id)
    if (inside !== undefined) emit(members.get(id) ?? [], inside, x + padding, y + header)
  }
  return layout
}

/** The steps of each group that is neither folded nor empty. */
function findMembers({ steps, folded }: LayoutInput): Map<string, string[]> {
  const isFolded = new Set(folded)
  const members = new Map<string, string[]>()
  for (const { id, kind } of steps) if (kind === 'group' && !isFolded.has(id)) members.set(id, [])
  for (const { id, group_id } of steps) members.get(group_id ?? '')?.push(id)
  for (const [id, ids] of members) if (ids.length === 0) members.delete(id)
  return members
}

const turn = (along: number, across: number, direction: Direction) =>
  direction === 'right' ? { x: along, y: across } : { x: across, y: along }

function boxOfStep(kind: StepKind | undefined, direction: Direction): Box {
  if (kind === 'wait') return { along: barrierSize, across: nodeHeight, isBarrier: true }
  return direction === 'right'
    ? { along: nodeWidth, across: nodeHeight, isBarrier: false }
    : { along: nodeHeight, across: nodeWidth, isBarrier: false }
}

function boxOfFrame(inside: Placed, direction: Direction): Box {
  const { x, y } = turn(inside.along, inside.across, direction)
  const [width, height] = [x + 2 * padding, y + header + padding]
  return direction === 'right'
    ? { along: width, across: height, isBarrier: false }
    : { along: height, across: width, isBarrier: false }
}

function indexEdges(ids: readonly string[], edges: ReadonlyArray<readonly string[]>): Edge[] {
  const indexOf = new Map(ids.map((id, index) => [id, index]))
  return edges.flatMap(([from = '', to = '']): Edge[] => {
    const [a, b] = [indexOf.get(from), indexOf.get(to)]
    return a === undefined || b === undefined || a === b ? [] : [[a, b]]
  })
}
