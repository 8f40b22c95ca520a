// Turns depends_on, barriers and the uploading step into edges.
//
// Edges stay few: a barrier is joined to the steps since the last barrier that covers everything before it,
// and to that barrier, and a step behind a barrier is joined to the barrier alone. A wait or block that names
// its dependencies covers nothing, so the next barrier looks past it.

import type { EdgeKind, EdgeRow, RefRow, StepRow } from '../rows.ts'
import type { Dependency, GroupStep, LeafStep } from '../steps/types.ts'
import { isGroup } from './placing.ts'
import type { Placed, PlacedLeaf } from './placing.ts'

/** The existing steps around an upload. */
export interface UploadContext {
  uploader: StepRow
  /** The uploader, or its group: new steps go behind this one. */
  behind: StepRow
  /** The nearest barrier in front, if it may be waited for. */
  barrier: StepRow | null
  /** The steps that a barrier uploaded here covers. */
  earlier: readonly StepRow[]
  /** Steps with a key the document defines or names, with the members of groups among them. */
  keyed: readonly StepRow[]
}

export interface Wiring {
  edges: EdgeRow[]
  refs: RefRow[]
}

export function wire(placed: readonly Placed[], upload: UploadContext | null): Wiring {
  const wires = new Wires(sourcesByKey(placed, upload), upload)
  wires.scope(placed, {
    barrier: upload?.barrier?.id ?? null,
    covered: upload === null ? [] : upload.earlier.map((step) => step.id),
    outer: null,
  })
  return wires.result()
}

/** Whether a step is a barrier, and of which kind. */
export function barrierOf(leaf: PlacedLeaf): StepRow['barrier'] {
  if (leaf.ignored !== null || (leaf.step.kind !== 'wait' && leaf.step.kind !== 'block')) return null
  return leaf.step.dependsOn === null ? 'full' : 'named'
}

interface Scope {
  barrier: string | null
  covered: string[]
  /** The group around this scope, and the barrier in front of the group. */
  outer: { group: GroupStep; barrier: string | null } | null
}

class Wires {
  private readonly edges = new Map<string, EdgeRow>()
  private readonly refs = new Map<string, RefRow>()
  private readonly sources: ReadonlyMap<string, readonly string[]>
  private readonly uploaderId: string | null
  private readonly ancestors: ReadonlySet<string>

  constructor(sources: ReadonlyMap<string, readonly string[]>, upload: UploadContext | null) {
    this.sources = sources
    this.uploaderId = upload?.uploader.id ?? null
    this.ancestors = new Set(upload === null ? [] : [...upload.uploader.uploadPath, upload.uploader.id])
  }

  result(): Wiring {
    return { edges: [...this.edges.values()], refs: [...this.refs.values()] }
  }

  scope(items: readonly Placed[], scope: Scope): void {
    for (const item of items) {
      if (isGroup(item)) {
        const outer = { group: item.step, barrier: scope.barrier }
        this.scope(item.members, { barrier: null, covered: [], outer })
        scope.covered.push(...item.members.filter((leaf) => leaf.ignored === null).map((leaf) => leaf.id))
      } else if (item.ignored === null) {
        this.leaf(item, scope)
        const barrier = barrierOf(item)
        if (barrier !== null) scope.barrier = item.id
        if (barrier === 'full') scope.covered = [item.id]
        else scope.covered.push(item.id)
      }
    }
  }

  private leaf(leaf: PlacedLeaf, scope: Scope): void {
    const { step } = leaf
    const group = scope.outer?.group ?? null
    if (group !== null && group.dependsOn !== null) this.named(leaf, group.dependsOn, group)
    if (step.dependsOn !== null) {
      this.named(leaf, step.dependsOn, step)
      return
    }
    const isBarrier = step.kind === 'wait' || step.kind === 'block'
    if (isBarrier) {
      const allowFailure = step.kind === 'wait' && step.continueOnFailure
      for (const from of scope.covered) this.join(from, leaf, 'covers', allowFailure)
    } else if (scope.barrier !== null) {
      this.join(scope.barrier, leaf, 'behind', false)
    }
    if (group !== null && group.dependsOn !== null) return
    const outerBarrier = scope.outer?.barrier ?? null
    if (outerBarrier !== null) this.join(outerBarrier, leaf, 'behind', false)
    const isCovered = isBarrier && scope.outer === null
    if (this.uploaderId !== null && !isCovered) this.join(this.uploaderId, leaf, 'uploader', false)
  }

  private named(leaf: PlacedLeaf, dependencies: readonly Dependency[], owner: LeafStep | GroupStep): void {
    for (const { ref, allowFailure } of dependencies) {
      const allow = allowFailure ?? owner.allowDependencyFailure
      const sources = this.sources.get(ref)
      if (sources === undefined) this.missing({ stepId: leaf.id, ref, allowFailure: allow })
      else for (const from of sources) this.join(from, leaf, 'named', allow)
    }
  }

  // Named twice, a dependency is as strict as its stricter mention.
  private join(from: string, leaf: PlacedLeaf, kind: EdgeKind, allowFailure: boolean): void {
    const name = `${from} ${leaf.id}`
    const known = this.edges.get(name)
    this.edges.set(name, {
      from,
      to: leaf.id,
      kind: known?.kind ?? kind,
      allowFailure: allowFailure && (known?.allowFailure ?? true),
      whole: !this.ancestors.has(from),
    })
  }

  private missing(ref: RefRow): void {
    const name = `${ref.stepId} ${ref.ref}`
    const known = this.refs.get(name)
    this.refs.set(name, { ...ref, allowFailure: ref.allowFailure && (known?.allowFailure ?? true) })
  }
}

// A group is a source of its own, so that naming it costs one edge however many steps it holds. Only when the
// uploader is among its members must these be named one by one: a new step cannot wait for all of them to end
// with everything they uploaded. An ignored step counts as done, so a key that leads to one leads to no edge.
function sourcesByKey(placed: readonly Placed[], upload: UploadContext | null): Map<string, string[]> {
  const sources = new Map<string, string[]>()
  for (const step of upload?.keyed ?? []) {
    if (step.key === null) continue
    const found = step.kind === 'group' ? groupSources(step, upload) : [step]
    sources.set(
      step.key,
      found.filter((other) => other.phase !== 'ignored').map((other) => other.id),
    )
  }
  for (const item of placed) {
    for (const leaf of isGroup(item) ? [item, ...item.members] : [item]) {
      const isIgnored = !isGroup(leaf) && leaf.ignored !== null
      if (leaf.step.key !== null) sources.set(leaf.step.key, isIgnored ? [] : [leaf.id])
    }
  }
  return sources
}

function groupSources(group: StepRow, upload: UploadContext | null): readonly StepRow[] {
  const members = upload?.keyed.filter((other) => other.groupId === group.id) ?? []
  return members.some((member) => isAncestor(member, upload)) ? members : [group]
}

function isAncestor(step: StepRow, upload: UploadContext | null): boolean {
  return upload !== null && (step.id === upload.uploader.id || upload.uploader.uploadPath.includes(step.id))
}
