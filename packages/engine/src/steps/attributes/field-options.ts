import { describeNode } from '../../source.ts'
import type { SourceEntry, SourceMap } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import type { Report } from '../report.ts'
import type { Field } from '../types.ts'
import { readBoolean, readText } from '../values.ts'

type Option = (Field & { kind: 'select' })['options'][number]

const VOCABULARY = { owner: 'an option', names: ['label', 'value', 'hint', 'required'] } as const

export function readOptions(entry: SourceEntry | undefined, field: SourceMap, report: Report): Option[] {
  if (entry?.value.kind !== 'list' || entry.value.items.length === 0) {
    report.problem(entry ?? field, 'a select field needs at least one option', {
      expected: '`options` with a list of `{label, value}`',
    })
    return []
  }
  return entry.value.items.flatMap((item) => {
    if (item.kind !== 'map') {
      report.problem(item, `an option cannot be ${describeNode(item)}`, { expected: '`{label, value}`' })
      return []
    }
    return [readOption(item, report)]
  })
}

function readOption(map: SourceMap, report: Report): Option {
  const attributes = readAttributes(map, VOCABULARY, report)
  const label = readText(attributes.get('label'), report)
  const value = readText(attributes.get('value'), report)
  if (label === null || value === null) report.problem(map, 'an option needs a `label` and a `value`')
  return {
    label: label ?? '',
    value: value ?? '',
    hint: readText(attributes.get('hint'), report),
    required: readBoolean(attributes.get('required'), report),
  }
}
