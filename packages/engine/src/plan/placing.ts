// Gives every step of a document its id and position, and decides which are ignored.

import { evaluateCondition } from '../conditions/evaluate.ts'
import type { ConditionFacts } from '../conditions/facts.ts'
import { matchesBranch } from '../branches.ts'
import type { GroupStep, LeafStep, Skip, StepDefinition } from '../steps/types.ts'
import { positionInGroup } from './positions.ts'

export interface PlacedGroup {
  id: string
  position: string
  step: GroupStep
  members: readonly PlacedLeaf[]
}

export interface PlacedLeaf {
  id: string
  position: string
  step: LeafStep
  groupId: string | null
  /** Why the step is left out; null when it runs. */
  ignored: string | null
}

export type Placed = PlacedGroup | PlacedLeaf

interface PlacingContext {
  facts: ConditionFacts
  mint: () => string
  positionAt: (index: number) => string
}

export function isGroup(placed: Placed): placed is PlacedGroup {
  return placed.step.kind === 'group'
}

/** Every leaf in display order. */
export function leavesOf(placed: readonly Placed[]): PlacedLeaf[] {
  return placed.flatMap((item) => (isGroup(item) ? item.members : [item]))
}

export function placeSteps(
  steps: readonly StepDefinition[],
  context: PlacingContext,
): { ok: true; placed: Placed[] } | { ok: false; message: string } {
  const placed: Placed[] = []
  for (const [index, step] of steps.entries()) {
    const position = context.positionAt(index)
    const item =
      step.kind === 'group'
        ? placeGroup(step, position, context)
        : placeLeaf(step, null, { id: context.mint(), position, groupId: null }, context.facts)
    if (!item.ok) return item
    placed.push(item.placed)
  }
  return { ok: true, placed }
}

function placeGroup(
  step: GroupStep,
  position: string,
  context: PlacingContext,
): { ok: true; placed: PlacedGroup } | { ok: false; message: string } {
  const id = context.mint()
  const members: PlacedLeaf[] = []
  for (const [index, member] of step.steps.entries()) {
    const place = { id: context.mint(), position: positionInGroup(position, index), groupId: id }
    const leaf = placeLeaf(member, step, place, context.facts)
    if (!leaf.ok) return leaf
    members.push(leaf.placed)
  }
  return { ok: true, placed: { id, position, step, members } }
}

function placeLeaf(
  step: LeafStep,
  group: GroupStep | null,
  place: { id: string; position: string; groupId: string | null },
  facts: ConditionFacts,
): { ok: true; placed: PlacedLeaf } | { ok: false; message: string } {
  const ignored = ignoredReason(step, group, facts)
  return ignored.ok ? { ok: true, placed: { ...place, step, ignored: ignored.reason } } : ignored
}

function ignoredReason(
  step: LeafStep,
  group: GroupStep | null,
  facts: ConditionFacts,
): { ok: true; reason: string | null } | { ok: false; message: string } {
  if (step.branches !== null && !matchesBranch(step.branches, facts.build.branch)) {
    return { ok: true, reason: 'branch_mismatch' }
  }
  for (const condition of [group?.condition ?? null, step.condition]) {
    if (condition === null) continue
    const answer = evaluateCondition(condition, facts)
    if (!answer.ok) return answer
    if (!answer.value) return { ok: true, reason: 'conditional_failed' }
  }
  const skip = group !== null && group.skip !== false ? group.skip : skipOf(step)
  return { ok: true, reason: skip === false ? null : skip }
}

function skipOf(step: LeafStep): Skip {
  return step.kind === 'command' || step.kind === 'trigger' ? step.skip : false
}
