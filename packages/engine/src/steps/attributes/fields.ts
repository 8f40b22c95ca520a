import { compileRegex } from '../../conditions/regex.ts'
import { describeNode } from '../../source.ts'
import type { SourceEntry, SourceMap, SourceNode } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import { readOptions } from './field-options.ts'
import type { Report } from '../report.ts'
import type { Field } from '../types.ts'
import { isNull, readBoolean, readName, readText, readTexts, wrong } from '../values.ts'

const TEXT = {
  owner: 'a text field',
  names: ['text', 'key', 'hint', 'required', 'default', 'format'],
} as const
const SELECT = {
  owner: 'a select field',
  names: ['select', 'key', 'hint', 'required', 'default', 'multiple', 'options'],
} as const

export function readFields(entry: SourceEntry | undefined, report: Report): Field[] {
  if (!entry || isNull(entry.value)) return []
  if (entry.value.kind !== 'list') {
    wrong(entry, 'a list of fields', report)
    return []
  }
  const keys = new Set<string>()
  return entry.value.items.flatMap((item) => {
    const field = readField(item, report)
    if (!field) return []
    if (keys.has(field.key)) report.problem(item, `two fields have the key "${field.key}"`)
    keys.add(field.key)
    return [field]
  })
}

function readField(item: SourceNode, report: Report): Field | null {
  const kinds =
    item.kind === 'map' ? item.entries.filter(({ key }) => key === 'text' || key === 'select') : []
  if (item.kind !== 'map' || kinds.length !== 1) {
    const what =
      item.kind === 'map'
        ? 'a field must have either `text` or `select`'
        : `a field cannot be ${describeNode(item)}`
    report.problem(item, what, { expected: '`text: …` or `select: …`, and a `key`' })
    return null
  }
  return kinds[0]?.key === 'text' ? readTextField(item, report) : readSelectField(item, report)
}

function readTextField(map: SourceMap, report: Report): Field {
  const attributes = readAttributes(map, TEXT, report)
  const format = attributes.get('format')
  return {
    kind: 'text',
    key: readFieldKey(attributes.get('key'), map, report),
    label: readText(attributes.get('text'), report) ?? '',
    hint: readText(attributes.get('hint'), report),
    required: readBoolean(attributes.get('required'), report) ?? true,
    default: readText(attributes.get('default'), report)?.replaceAll(/\r\n?/g, '\n') ?? null,
    format: readFormat(format, report),
  }
}

function readSelectField(map: SourceMap, report: Report): Field {
  const attributes = readAttributes(map, SELECT, report)
  const multiple = readBoolean(attributes.get('multiple'), report) ?? false
  const options = readOptions(attributes.get('options'), map, report)
  const chosen = attributes.get('default')
  if (chosen?.value.kind === 'list' && !multiple) wrong(chosen, 'one value, or `multiple: true`', report)
  const defaults = (readTexts(chosen, report) ?? []).filter((value) => value !== '')
  for (const value of defaults) {
    if (chosen && !options.some((option) => option.value === value)) {
      report.problem(chosen.value, `the default "${value}" is not among the options`)
    }
  }
  return {
    kind: 'select',
    key: readFieldKey(attributes.get('key'), map, report),
    label: readText(attributes.get('select'), report) ?? '',
    hint: readText(attributes.get('hint'), report),
    required: readBoolean(attributes.get('required'), report) ?? true,
    multiple,
    default: defaults,
    options,
  }
}

function readFieldKey(entry: SourceEntry | undefined, map: SourceMap, report: Report): string {
  const key = readName(entry, report)
  if (!entry || key === null) {
    report.problem(map, 'the field needs a `key`')
    return ''
  }
  if (!/^[A-Za-z0-9/_-]+$/.test(key)) wrong(entry, 'letters, digits and the characters `/ - _`', report)
  return key
}

function readFormat(entry: SourceEntry | undefined, report: Report): string | null {
  const format = readText(entry, report)
  if (!entry || format === null || format === '') return null
  const compiled = compileRegex(format, { ignoreCase: false })
  if (!compiled.ok)
    report.problem(entry.value, `\`format\` is not a usable regular expression: ${compiled.message}`)
  return format
}
