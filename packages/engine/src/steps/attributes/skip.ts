import type { SourceEntry } from '../../source.ts'
import type { Report } from '../report.ts'
import type { Skip } from '../types.ts'
import { isNull, wrong } from '../values.ts'

const MAX_REASON = 70

export function readSkip(entry: SourceEntry | undefined, report: Report): Skip {
  if (!entry || isNull(entry.value)) return false
  const { value } = entry
  if (value.kind !== 'scalar') {
    wrong(entry, '`true`, `false` or a reason', report)
    return false
  }
  if (value.text === 'true') return 'skipped'
  if (value.text === 'false' || value.text === '') return false
  if (Array.from(value.text).length > MAX_REASON) {
    report.problem(value, 'the reason given in `skip` is too long', {
      expected: `at most ${MAX_REASON} characters`,
    })
  }
  return value.text
}
