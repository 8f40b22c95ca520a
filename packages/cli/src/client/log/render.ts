import type { JobOptions } from '../job/find-job.ts'
import type { Style } from '../style.ts'
import { styledRow, textOfRow, type Row } from '../log-rows.ts'

export interface LogOptions extends JobOptions {
  follow?: true
  tail?: number
  times?: true
}

export function renderRow(row: Row, style: Style, hasTimes: boolean): string {
  const text = style.hasColor ? styledRow(row) : textOfRow(row)
  const line = isHeader(row) ? style.bold(text) : text
  return hasTimes ? `${style.dim(timeOf(row))}  ${line}` : line
}

const isHeader = (row: Row) => /^(?:---|\+\+\+|~~~) /.test(textOfRow(row))

function timeOf([time]: Row): string {
  return typeof time === 'number' ? new Date(time).toISOString().slice(11, 23) : ' '.repeat(12)
}

export function rowJson(row: Row): object {
  const [time] = row
  return { time: typeof time === 'number' ? new Date(time).toISOString() : null, text: textOfRow(row) }
}
