// Which kind of step an item of `steps` is, and where its attributes are.

import { nearestName } from '../../nearest-name.ts'
import { describeNode, findEntry } from '../../source.ts'
import type { SourceEntry, SourceMap, SourceNode } from '../../source.ts'
import type { Report } from '../report.ts'

type StepKind = 'command' | 'wait' | 'block' | 'input' | 'trigger' | 'group'

const TYPES: Readonly<Record<string, StepKind>> = {
  command: 'command',
  commands: 'command',
  script: 'command',
  wait: 'wait',
  waiter: 'wait',
  block: 'block',
  manual: 'block',
  input: 'input',
  trigger: 'trigger',
  group: 'group',
}

/** The first of these keys that a map has decides its kind. */
const TELLING_KEYS: ReadonlyArray<readonly [key: string, kind: StepKind]> = [
  ['command', 'command'],
  ['commands', 'command'],
  ['plugins', 'command'],
  ['script', 'command'],
  ['wait', 'wait'],
  ['waiter', 'wait'],
  ['block', 'block'],
  ['input', 'input'],
  ['manual', 'block'],
  ['trigger', 'trigger'],
  ['group', 'group'],
]

/** Strings that are steps by themselves. A command or a trigger would have nothing to do. */
const BARE_WORDS = ['wait', 'waiter', 'block', 'manual', 'input']

interface KindOfStep {
  kind: StepKind
  map: SourceMap
}

/** Null, and a problem, when the item is no step at all. */
export function readKind(item: SourceNode, report: Report): KindOfStep | null {
  if (item.kind === 'scalar' && typeof item.value === 'string') return readBareWord(item, item.value, report)
  if (item.kind !== 'map') {
    report.problem(item, `a step cannot be ${describeNode(item)}`, {
      expected: 'a map, or a word such as `wait`',
    })
    return null
  }
  const type = findEntry(item, 'type')
  if (type) return readType(type, item, report)
  const telling = TELLING_KEYS.find(([key]) => findEntry(item, key))
  if (!telling) {
    report.problem(item, 'the step is missing a type', () => ({
      expected: 'one of `command`, `wait`, `block`, `input`, `trigger`, `group`',
      suggestion: suggestKey(item),
    }))
    return null
  }
  const [key, kind] = telling
  return { kind, map: unwrap(item, key, report) }
}

function readBareWord(item: SourceNode, word: string, report: Report): KindOfStep | null {
  const kind = TYPES[word]
  if (kind && BARE_WORDS.includes(word)) {
    return { kind, map: { kind: 'map', entries: [], line: item.line, column: item.column } }
  }
  report.problem(item, `"${word}" is not a step`, () => ({
    expected: '`wait`, `block`, `input`, or a map such as `command: make`',
    suggestion: nearestName(word, BARE_WORDS),
  }))
  return null
}

function readType(type: SourceEntry, map: SourceMap, report: Report): KindOfStep | null {
  const name = type.value.kind === 'scalar' ? type.value.text : ''
  const kind = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined
  if (kind) return { kind, map }
  report.problem(type.value, `a step cannot have the type ${describeNode(type.value)}`, () => ({
    expected: 'one of `command`, `wait`, `block`, `input`, `trigger`, `group`',
    suggestion: nearestName(name, Object.keys(TYPES)),
  }))
  return null
}

/** In `- command: {…}` the value is the whole step. */
function unwrap(map: SourceMap, key: string, report: Report): SourceMap {
  const inner = findEntry(map, key)?.value
  if (inner?.kind !== 'map' || key === 'plugins' || key === 'group') return map
  for (const entry of map.entries) {
    if (entry.key !== key) {
      report.problem(entry, `\`${entry.key}\` stands beside \`${key}\`, which already holds the whole step`, {
        expected: `\`${entry.key}\` inside \`${key}\``,
      })
    }
  }
  return inner
}

function suggestKey(map: SourceMap): string | null {
  const keys = TELLING_KEYS.map(([key]) => key)
  for (const { key } of map.entries) {
    const near = nearestName(key, keys)
    if (near) return near
  }
  return null
}
