// The graph of dependencies, for finding cycles.
//
// A step has two ends: its own, and the end of everything it uploaded as well. Each is a node here, because a
// step may wait for its uploader's own end but never for the uploader's whole end, of which it is a part. A group
// wholly ends with its members.

import type { EdgeRow, StepRow } from '../rows.ts'

type GraphStep = Pick<StepRow, 'id' | 'kind' | 'uploaderId' | 'groupId'>

export class Graph {
  private readonly next = new Map<string, string[]>()

  addStep({ id, kind, uploaderId, groupId }: GraphStep): void {
    this.link(own(id), whole(id))
    if (groupId !== null) this.link(whole(id), whole(groupId))
    if (uploaderId !== null && kind !== 'group') this.link(whole(id), whole(uploaderId))
  }

  addEdge(edge: EdgeRow): void {
    this.link(edge.whole ? whole(edge.from) : own(edge.from), own(edge.to))
  }

  /** The steps that cannot start, or not wholly end, before these have wholly ended. */
  behindWhole(ids: readonly string[]): Set<string> {
    return new Set([...this.reach(ids.map(whole))].map(stepOf))
  }

  /** The steps that cannot start before these have ended, and these. */
  behind(ids: readonly string[]): Set<string> {
    return new Set([...this.reach(ids.map(own))].filter(isOwn).map(stepOf))
  }

  /** Steps that lie on a cycle or behind one; empty when there is none. */
  findCyclic(): string[] {
    const waiting = new Map<string, number>()
    for (const [from, targets] of this.next) {
      if (!waiting.has(from)) waiting.set(from, 0)
      for (const target of targets) waiting.set(target, (waiting.get(target) ?? 0) + 1)
    }
    const free = [...waiting].filter(([, count]) => count === 0).map(([node]) => node)
    for (let node = free.pop(); node !== undefined; node = free.pop()) {
      waiting.delete(node)
      for (const target of this.next.get(node) ?? []) {
        const left = (waiting.get(target) ?? 0) - 1
        waiting.set(target, left)
        if (left === 0) free.push(target)
      }
    }
    return [...waiting.keys()].filter(isOwn).map(stepOf)
  }

  private reach(starts: readonly string[]): Set<string> {
    const seen = new Set<string>(starts)
    const open = [...starts]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      for (const target of this.next.get(node) ?? []) {
        if (seen.has(target)) continue
        seen.add(target)
        open.push(target)
      }
    }
    return seen
  }

  private link(from: string, to: string): void {
    const targets = this.next.get(from)
    if (targets === undefined) this.next.set(from, [to])
    else targets.push(to)
  }
}

function own(id: string): string {
  return `${id} own`
}

function whole(id: string): string {
  return `${id} whole`
}

function isOwn(node: string): boolean {
  return node.endsWith(' own')
}

function stepOf(node: string): string {
  return node.slice(0, node.lastIndexOf(' '))
}
