import type { JobOptions } from '../job/find-job.ts'
import type { Style } from '../style.ts'
import { isHeading, plainRow, styledRow, textOfRow, type Row } from '../log-rows.ts'

export interface LogOptions extends JobOptions {
  follow?: true
  tail?: number
  times?: true
}

export function renderRow(row: Row, style: Style, hasTimes: boolean): string {
  const text = style.hasColor ? styledRow(row) : plainRow(row)
  const line = isHeading(textOfRow(row)) ? style.bold(text) : text
  return hasTimes ? `${style.dim(timeOf(row))}  ${line}` : line
}

function timeOf([time]: Row): string {
  return typeof time === 'number' ? new Date(time).toISOString().slice(11, 23) : ' '.repeat(12)
}

export function rowJson(row: Row): object {
  const [time] = row
  return { time: typeof time === 'number' ? new Date(time).toISOString() : null, text: textOfRow(row) }
}
