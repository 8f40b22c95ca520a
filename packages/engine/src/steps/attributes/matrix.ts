import type { SourceEntry } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import { readAdjustments } from './matrix-adjustments.ts'
import { checkBytes, readElement } from './matrix-elements.ts'
import type { Report } from '../report.ts'
import type { Matrix } from '../types.ts'
import { isNull, wrong } from '../values.ts'

const MAX_DIMENSIONS = 6
const MAX_ELEMENTS = 25
const MAX_JOBS = 50

export function readMatrix(entry: SourceEntry | undefined, report: Report): Matrix | null {
  if (!entry || isNull(entry.value)) return null
  if (entry.value.kind === 'scalar') {
    wrong(entry, 'a list of values, or a map with `setup`', report)
    return null
  }
  if (entry.value.kind === 'list')
    return checked({ dimensions: readSetup(entry, report), adjustments: [] }, entry, report)
  const attributes = readAttributes(
    entry.value,
    { owner: '`matrix`', names: ['setup', 'adjustments'] },
    report,
  )
  const setup = attributes.get('setup')
  if (!setup) {
    report.problem(entry, '`matrix` needs `setup`')
    return null
  }
  const dimensions = readSetup(setup, report)
  const names = dimensions.map(({ name }) => name)
  return checked(
    { dimensions, adjustments: readAdjustments(attributes.get('adjustments'), names, report) },
    entry,
    report,
  )
}

/** The product of the dimensions, and the adjustments' additions. */
export function countCombinations(matrix: Matrix): number {
  const product = matrix.dimensions.reduce((count, { values }) => count * values.length, 1)
  const added = matrix.adjustments.filter(({ with: combination }) =>
    combination.some((value, index) => !matrix.dimensions[index]?.values.includes(value)),
  )
  return product + new Set(added.map(({ with: combination }) => JSON.stringify(combination))).size
}

function readSetup(entry: SourceEntry, report: Report): Matrix['dimensions'] {
  if (entry.value.kind === 'scalar') {
    wrong(entry, 'a list of values, or a map of names to lists', report)
    return []
  }
  if (entry.value.kind === 'list') return [{ name: null, values: readElements(entry, report) }]
  const dimensions = entry.value.entries
  if (dimensions.length === 0 || dimensions.length > MAX_DIMENSIONS) {
    wrong(entry, `1 to ${MAX_DIMENSIONS} dimensions`, report)
  }
  return dimensions.map((dimension) => {
    if (!/^[A-Za-z0-9_]+$/.test(dimension.key)) {
      report.problem(dimension, `"${dimension.key}" cannot be the name of a dimension`, {
        expected: 'letters, digits and underscores',
      })
    }
    checkBytes(dimension.key, dimension, report)
    return { name: dimension.key, values: readElements(dimension, report) }
  })
}

function readElements(entry: SourceEntry, report: Report): string[] {
  const items = entry.value.kind === 'list' ? entry.value.items : isNull(entry.value) ? [] : [entry.value]
  if (items.length > MAX_ELEMENTS) {
    report.problem(entry.value, `\`${entry.key}\` has ${items.length} values`, {
      expected: `at most ${MAX_ELEMENTS}`,
    })
  }
  const values = items.slice(0, MAX_ELEMENTS).flatMap((item) => readElement(item, report) ?? [])
  return [...new Set(values)]
}

function checked(matrix: Matrix, entry: SourceEntry, report: Report): Matrix {
  const jobs = countCombinations(matrix)
  if (jobs > MAX_JOBS) {
    report.problem(entry.value, `the matrix makes ${jobs} jobs`, { expected: `at most ${MAX_JOBS}` })
  } else if (jobs === 0) {
    report.problem(entry.value, 'the matrix makes no job', { expected: 'at least one combination' })
  }
  return matrix
}
