import { describeNode } from '../../source.ts'
import type { SourceEntry, SourceNode } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import type { Report } from '../report.ts'
import type { SoftFail } from '../types.ts'
import { integerOf, isNull, MAX_INTEGER, MIN_INTEGER, readBoolean } from '../values.ts'

/** Programs on Windows end with statuses of 32 bits. */
const EXIT_STATUS = { min: MIN_INTEGER, max: MAX_INTEGER }

/** Null when the attribute is absent. */
export function readSoftFail(entry: SourceEntry | undefined, report: Report): SoftFail | null {
  if (!entry || isNull(entry.value)) return null
  if (entry.value.kind !== 'list') return readBoolean(entry, report)
  return entry.value.items.flatMap((item) => readStatus(item, report) ?? [])
}

function readStatus(item: SourceNode, report: Report): number | '*' | null {
  const attributes =
    item.kind === 'map'
      ? readAttributes(item, { owner: '`soft_fail`', names: ['exit_status'] }, report)
      : null
  const status = attributes?.get('exit_status')?.value ?? item
  if (attributes && status.kind === 'scalar' && status.value === '*') return '*'
  const value = attributes ? integerOf(status, EXIT_STATUS) : null
  if (value !== null) return value
  report.problem(status, `\`soft_fail\` cannot contain ${describeNode(status)}`, {
    expected: `\`exit_status: 1\` (a whole number from ${EXIT_STATUS.min} to ${EXIT_STATUS.max}), or \`exit_status: "*"\` for any failure`,
  })
  return null
}
