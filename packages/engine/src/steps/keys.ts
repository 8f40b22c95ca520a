import { nearestName } from '../nearest-name.ts'
import type { Position } from '../source.ts'
import type { Report } from './report.ts'
import type { Dependency, StepDefinition } from './types.ts'

export interface PlacedStep {
  step: StepDefinition
  /** As problems call it. */
  name: string
  at: Position
}

/** Keys are unique in the document, and no step waits for itself; this includes groups and their members. */
export function checkKeys(placed: readonly PlacedStep[], report: Report): void {
  if (areUnique(placed, report)) checkCycles(placed, report)
  warnOfUnknown(placed, report)
}

/** Only a warning: another upload may bring the key. A key that never comes fails the step. */
function warnOfUnknown(placed: readonly PlacedStep[], report: Report): void {
  const keys = new Set(placed.flatMap(({ step }) => step.key ?? []))
  for (const { step, name, at } of placed) {
    for (const ref of refsOf(step.dependsOn)) {
      if (keys.has(ref)) continue
      report.inside(name).warning(at, `\`depends_on\` names "${ref}", and no step here has that key`, () => ({
        suggestion: nearestName(ref, [...keys]),
      }))
    }
  }
}

function areUnique(placed: readonly PlacedStep[], report: Report): boolean {
  let isUnique = true
  const owners = new Map<string, string>()
  for (const { step, name, at } of placed) {
    if (step.key === null) continue
    const owner = owners.get(step.key)
    if (owner === undefined) {
      owners.set(step.key, name)
      continue
    }
    report.inside(name).problem(at, `the key "${step.key}" is already used by ${owner}`)
    isUnique = false
  }
  return isUnique
}

/** A cycle may run directly, by way of other steps, or through a group. */
function checkCycles(placed: readonly PlacedStep[], report: Report): void {
  const edges = new Map<string, string[]>()
  for (const { step } of placed) {
    if (step.kind === 'group') addGroup(edges, step)
    else if (step.key !== null) addEdges(edges, step.key, refsOf(step.dependsOn))
  }
  const cycle = findCycle(edges)
  if (!cycle) return
  const culprit = placed.find(({ step }) => step.key !== null && cycle.includes(step.key))
  const path = cycle.map((key) => `"${key}"`).join(' → ')
  const message =
    cycle.length === 2 ? `the step depends on itself: ${path}` : `steps wait for each other: ${path}`
  if (culprit) report.inside(culprit.name).problem(culprit.at, message)
}

function addGroup(edges: Map<string, string[]>, group: StepDefinition & { kind: 'group' }): void {
  for (const [index, inner] of group.steps.entries()) {
    const name = inner.key ?? `${group.key ?? ''}#${index}`
    if (group.key !== null) addEdges(edges, group.key, [name])
    addEdges(edges, name, [...refsOf(inner.dependsOn), ...refsOf(group.dependsOn)])
  }
}

function addEdges(edges: Map<string, string[]>, from: string, to: readonly string[]): void {
  edges.set(from, [...(edges.get(from) ?? []), ...to])
}

function refsOf(dependencies: readonly Dependency[] | null): string[] {
  return (dependencies ?? []).map(({ ref }) => ref)
}

/** A walk that keeps its own stack: documents may chain thousands of steps. */
function findCycle(edges: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>()
  for (const start of edges.keys()) {
    const path: Array<{ key: string; next: number }> = [{ key: start, next: 0 }]
    const open = new Set([start])
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const target = done.has(top.key) ? undefined : edges.get(top.key)?.[top.next]
      top.next += 1
      if (target === undefined) {
        done.add(top.key)
        open.delete(top.key)
        path.pop()
      } else if (open.has(target)) {
        const keys = path.map(({ key }) => key)
        return [...keys.slice(keys.indexOf(target)), target]
      } else if (!done.has(target)) {
        path.push({ key: target, next: 0 })
        open.add(target)
      }
    }
  }
  return null
}
