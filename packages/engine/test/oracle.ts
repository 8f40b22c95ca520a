// Says from a whole build, step by step and as the rules are written, which steps must wait, which may start
// and which never will. Slow and without counters; for builds in which nothing was uploaded or retried.

import type { Store } from '../src/memory/store.ts'
import type { StepRow } from '../src/rows.ts'
import type { Dependency, GroupStep, LeafStep } from '../src/steps/types.ts'
import { verdictOf } from '../src/outcome.ts'

type Result = 'wait' | 'ok' | 'fail'
type Ended = 'open' | 'fine' | 'failed' | 'cut'

export class Oracle {
  private readonly store: Store
  private readonly leaves: StepRow[]
  private readonly results = new Map<string, Result>()

  constructor(store: Store) {
    this.store = store
    this.leaves = store.stepsInOrder().filter((step) => step.kind !== 'group')
  }

  resultOf(step: StepRow): Result {
    const known = this.results.get(step.id)
    if (known !== undefined) return known
    const found = this.combine(this.dependencies(step))
    this.results.set(step.id, found)
    return found
  }

  private combine(results: readonly Result[]): Result {
    if (results.includes('fail')) return 'fail'
    return results.includes('wait') ? 'wait' : 'ok'
  }

  private dependencies(step: StepRow): Result[] {
    const definition = this.leafOf(step)
    const group = this.groupOf(step)
    const results: Result[] = []
    if (group?.dependsOn) results.push(...this.named(group.dependsOn, group.allowDependencyFailure))
    if (definition.dependsOn !== null) {
      return [...results, ...this.named(definition.dependsOn, definition.allowDependencyFailure)]
    }
    results.push(...this.inScope(step, definition))
    if (group !== null && group.dependsOn === null) {
      const outer = this.barrierBefore(step.position, null)
      if (outer !== undefined) results.push(this.judge(outer, false))
    }
    return results
  }

  private inScope(step: StepRow, definition: LeafStep): Result[] {
    if (definition.kind !== 'wait' && definition.kind !== 'block') {
      const barrier = this.barrierBefore(step.position, step.groupId)
      return barrier === undefined ? [] : [this.judge(barrier, false)]
    }
    const continues = definition.kind === 'wait' && definition.continueOnFailure
    return this.leaves
      .filter((other) => other.position < step.position && other.phase !== 'ignored')
      .filter((other) => step.groupId === null || other.groupId === step.groupId)
      .map((other) => this.judge(other, continues && other.barrier === null))
  }

  private named(dependencies: readonly Dependency[], allowAll: boolean): Result[] {
    return dependencies.flatMap(({ ref, allowFailure }) => {
      const target = [...this.store.steps.values()].find((step) => step.key === ref)
      if (target === undefined) return ['wait']
      const members = this.leaves.filter((leaf) => leaf.id === target.id || leaf.groupId === target.id)
      return members
        .filter((leaf) => leaf.phase !== 'ignored')
        .map((leaf) => this.judge(leaf, allowFailure ?? allowAll))
    })
  }

  private judge(source: StepRow, allow: boolean): Result {
    const ended = this.endOf(source)
    if (ended === 'open') return 'wait'
    if (ended === 'cut') return 'fail'
    return ended === 'fine' || allow ? 'ok' : 'fail'
  }

  private endOf(step: StepRow): Ended {
    const verdicts = new Set(this.store.jobsOf(step.id).map(verdictOf))
    if (verdicts.has('open')) return 'open'
    if (verdicts.has('canceled') || (verdicts.has('not_run') && step.cut > 0)) return 'cut'
    return verdicts.has('hard') || verdicts.has('not_run') ? 'failed' : 'fine'
  }

  private barrierBefore(position: string, groupId: string | null): StepRow | undefined {
    return this.leaves.findLast(
      (other) => other.position < position && other.groupId === groupId && other.barrier !== null,
    )
  }

  private leafOf(step: StepRow): LeafStep {
    const definition = this.store.definitions.get(step.id)
    if (definition === undefined || definition.kind === 'group') throw new Error(`${step.id} is no leaf`)
    return definition
  }

  private groupOf(step: StepRow): GroupStep | null {
    const definition = step.groupId === null ? undefined : this.store.definitions.get(step.groupId)
    return definition?.kind === 'group' ? definition : null
  }
}
