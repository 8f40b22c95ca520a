import { describeNode } from '../../source.ts'
import type { SourceEntry, SourceMap, SourceNode } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import { readElement } from './matrix-elements.ts'
import type { Report } from '../report.ts'
import { readSkip } from './skip.ts'
import { readSoftFail } from './soft-fail.ts'
import type { Matrix } from '../types.ts'
import { isNull, wrong } from '../values.ts'

const MAX_ADJUSTMENTS = 12

type Names = ReadonlyArray<string | null>

export function readAdjustments(
  entry: SourceEntry | undefined,
  names: Names,
  report: Report,
): Matrix['adjustments'] {
  if (!entry || isNull(entry.value)) return []
  if (entry.value.kind !== 'list') {
    wrong(entry, 'a list', report)
    return []
  }
  const { items } = entry.value
  if (items.length > MAX_ADJUSTMENTS) {
    report.problem(entry.value, `the matrix has ${items.length} adjustments`, {
      expected: `at most ${MAX_ADJUSTMENTS}`,
    })
  }
  return items.slice(0, MAX_ADJUSTMENTS).flatMap((item) => {
    if (item.kind === 'map') return [readAdjustment(item, names, report)]
    report.problem(item, `\`adjustments\` cannot contain ${describeNode(item)}`, {
      expected: 'a map with `with`',
    })
    return []
  })
}

function readAdjustment(item: SourceMap, names: Names, report: Report): Matrix['adjustments'][number] {
  const attributes = readAttributes(
    item,
    { owner: 'a matrix adjustment', names: ['with', 'skip', 'soft_fail'] },
    report,
  )
  const combination = attributes.get('with')
  if (!combination) report.problem(item, 'an adjustment needs `with`')
  return {
    with: combination ? readCombination(combination, names, report) : [],
    skip: readSkip(attributes.get('skip'), report),
    softFail: readSoftFail(attributes.get('soft_fail'), report),
  }
}

function readCombination(entry: SourceEntry, names: Names, report: Report): string[] {
  const { value } = entry
  if (names.includes(null)) {
    const single = value.kind === 'list' && value.items.length === 1 ? value.items[0] : value
    const element = single && readElement(single, report)
    return element === null || element === undefined ? [] : [element]
  }
  if (value.kind !== 'map') {
    wrong(entry, 'a map with a value for every dimension', report)
    return []
  }
  for (const given of value.entries) {
    if (!names.includes(given.key)) report.problem(given, `the matrix has no dimension \`${given.key}\``)
  }
  return names.map((name) => {
    const given: SourceNode | undefined = value.entries.find(({ key }) => key === name)?.value
    if (!given) report.problem(value, `\`with\` does not say which \`${name}\` it means`)
    return (given && readElement(given, report)) ?? ''
  })
}
