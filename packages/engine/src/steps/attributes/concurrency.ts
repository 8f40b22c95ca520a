import type { SourceEntry } from '../../source.ts'
import type { Attributes } from '../read-attributes.ts'
import type { Report } from '../report.ts'
import type { ConcurrencyLimit } from '../types.ts'
import { isNull, MAX_INTEGER, readChoice, readInteger, readName } from '../values.ts'

type Name = 'concurrency' | 'concurrency_group' | 'concurrency_method'

const MAX_GROUP = 200

export function readConcurrency(attributes: Attributes<Name>, report: Report): ConcurrencyLimit | null {
  const limitEntry = present(attributes.get('concurrency'))
  const groupEntry = present(attributes.get('concurrency_group'))
  const methodEntry = present(attributes.get('concurrency_method'))
  if (limitEntry && !groupEntry) report.problem(limitEntry, '`concurrency` needs a `concurrency_group`')
  if (groupEntry && !limitEntry) report.problem(groupEntry, '`concurrency_group` needs a `concurrency`')
  if (methodEntry && !(limitEntry && groupEntry)) {
    report.problem(methodEntry, '`concurrency_method` needs `concurrency` and `concurrency_group`')
  }
  const limit = readInteger(limitEntry, { min: 1, max: MAX_INTEGER }, report)
  const group = readName(groupEntry, report)
  const method = readChoice(methodEntry, ['ordered', 'eager'], report) ?? 'ordered'
  if (groupEntry && group !== null && group.length > MAX_GROUP) {
    report.problem(groupEntry.value, '`concurrency_group` is too long', {
      expected: `at most ${MAX_GROUP} characters`,
    })
  }
  return limit === null || group === null ? null : { limit, group, method }
}

function present(entry: SourceEntry | undefined): SourceEntry | undefined {
  return entry && !isNull(entry.value) ? entry : undefined
}
