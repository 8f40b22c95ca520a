import { findEntry } from '../source.ts'
import type { SourceMap, SourceNode } from '../source.ts'
import { readCommand } from './kinds/command.ts'
import type { Defaults } from './defaults.ts'
import { readGroup } from './kinds/group.ts'
import type { Origin } from './attributes/if-changed.ts'
import { readKind } from './kinds/kind.ts'
import { readBlock, readInput } from './kinds/manual.ts'
import type { PlacedStep } from './keys.ts'
import type { Report } from './report.ts'
import { readTrigger } from './kinds/trigger.ts'
import type { LeafStep, StepDefinition } from './types.ts'
import { readWait } from './kinds/wait.ts'

interface StepContext {
  defaults: Defaults
  origin: Origin
  report: Report
  /** Every step read so far, for checks across steps. */
  placed: PlacedStep[]
}

/** `number` counts as people do: `3`, or `3.1` inside a group. None, and a problem, when the item is no step. */
export function readStep(item: SourceNode, number: string, context: StepContext): StepDefinition[] {
  const name = nameStep(item, number)
  const report = context.report.inside(name)
  const found = readKind(item, report)
  if (!found) return []
  const steps =
    found.kind === 'group'
      ? [
          readGroup(found.map, context.origin, report, (inner, index) =>
            readInner(inner, `${number}.${index + 1}`, context),
          ),
        ]
      : readLeaf(found.kind, found.map, context, report)
  context.placed.push(...steps.map((step) => ({ step, name, at: item })))
  return steps
}

function readInner(item: SourceNode, number: string, context: StepContext): LeafStep[] {
  const report = context.report.inside(nameStep(item, number))
  const found = readKind(item, report)
  if (found?.kind === 'group') {
    report.problem(item, 'a group cannot stand inside another group')
    return []
  }
  const steps = found ? readLeaf(found.kind, found.map, context, report) : []
  context.placed.push(...steps.map((step) => ({ step, name: nameStep(item, number), at: item })))
  return steps
}

function readLeaf(
  kind: LeafStep['kind'],
  map: SourceMap,
  { defaults, origin }: StepContext,
  report: Report,
): LeafStep[] {
  switch (kind) {
    case 'command':
      return readCommand(map, defaults, origin, report)
    case 'wait':
      return [readWait(map, report)]
    case 'block':
      return [readBlock(map, report)]
    case 'input':
      return [readInput(map, report)]
    case 'trigger':
      return [readTrigger(map, origin, report)]
  }
}

/** How problems call the step: by its number, and by the first name it has. */
function nameStep(item: SourceNode, number: string): string {
  const names =
    item.kind === 'map' ? ['label', 'name', 'key', 'group', 'block', 'input', 'trigger', 'command'] : []
  for (const name of names) {
    const value = item.kind === 'map' ? findEntry(item, name)?.value : undefined
    const text = value?.kind === 'scalar' && value.value !== null ? (value.text.split('\n', 1)[0] ?? '') : ''
    if (text !== '') return `step ${number} ("${text.length > 40 ? `${text.slice(0, 40)}…` : text}")`
  }
  return `step ${number}`
}
