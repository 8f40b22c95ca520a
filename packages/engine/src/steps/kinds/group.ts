import type { SourceEntry, SourceMap, SourceNode } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import { EVERY_STEP_ALIASES, EVERY_STEP_NAMES, readEveryStep } from '../attributes/every-step.ts'
import { checkIfChanged } from '../attributes/if-changed.ts'
import type { Origin } from '../attributes/if-changed.ts'
import { readNotify } from '../attributes/notify.ts'
import type { Report } from '../report.ts'
import { readSkip } from '../attributes/skip.ts'
import type { GroupStep, LeafStep } from '../types.ts'
import { readText } from '../values.ts'

const VOCABULARY = {
  owner: 'a group',
  names: [...EVERY_STEP_NAMES, 'group', 'if_changed', 'notify', 'skip', 'steps'],
  aliases: EVERY_STEP_ALIASES,
} as const

export function readGroup(
  map: SourceMap,
  origin: Origin,
  report: Report,
  readInner: (item: SourceNode, index: number) => readonly LeafStep[],
): GroupStep {
  const attributes = readAttributes(map, VOCABULARY, report)
  const title = attributes.get('group')
  readText(title, report)
  checkIfChanged(attributes.get('if_changed'), origin, report)
  return {
    kind: 'group',
    ...readEveryStep(attributes, title, report),
    skip: readSkip(attributes.get('skip'), report),
    notify: readNotify(attributes.get('notify'), 'group', report),
    steps: listItems(attributes.get('steps'), map, report).flatMap((item, index) => readInner(item, index)),
  }
}

function listItems(entry: SourceEntry | undefined, map: SourceMap, report: Report): readonly SourceNode[] {
  if (entry?.value.kind === 'list' && entry.value.items.length > 0) return entry.value.items
  report.problem(entry ?? map, 'the group has no steps', { expected: '`steps` with at least one step' })
  return []
}
