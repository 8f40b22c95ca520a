// Follows a growing log to its end. The server sends rows, and sends a row again if the job has changed it, as progress bars do.
// The id of an event is the first row that may still change; a new connection continues there, so nothing is lost.
import type { Job, JobWaiting } from '@millrace/server/wire.ts'
import { Refused } from '../../refused.ts'
import type { Api } from '../api.ts'
import { interruptSignal } from '../interrupt.ts'
import { Reconnecting } from '../event-stream.ts'
import { openStyle } from '../style.ts'
import { oneLine, shortened } from '../text.ts'
import { LiveArea } from '../watch/live-area.ts'
import { renderRow, rowJson, type LogOptions } from './render.ts'
import { isMarker, type Row } from '../log-rows.ts'

export async function followLog(api: Api, id: string, options: LogOptions): Promise<void> {
  await sayWhyItWaits(api, id)
  const interrupt = interruptSignal()
  const output = openOutput(options)
  try {
    await follow(api, id, new GrowingLog(output), interrupt.signal, options.tail)
  } finally {
    output.close()
    interrupt.end()
  }
}

/** Something that shows rows. */
interface LogOutput {
  /** How many of the last rows it can still change. */
  openRows(): number
  /** `settled` rows follow those of earlier calls; `open` ones may be different in the next call. */
  show(settled: readonly Row[], open: readonly Row[]): void
  close(): void
}

/** The rows that have not been settled yet. */
export class GrowingLog {
  private readonly output: LogOutput
  private settled = 0
  private open: readonly Row[] = []

  constructor(output: LogOutput) {
    this.output = output
  }

  /** From row `from` on, the log is this. Rows that were settled before stay as they were. */
  set(from: number, rows: readonly Row[]): void {
    // The first event of a part of a log begins after its first row.
    if (this.settled === 0 && this.open.length === 0) this.settled = from - 1
    const known = from - 1 - this.settled
    this.open = known >= 0 ? [...this.open.slice(0, known), ...rows] : rows.slice(-known)
    this.settle(this.output.openRows())
  }

  end(): void {
    this.settle(0)
  }

  private settle(openRows: number): void {
    const count = Math.max(0, this.open.length - openRows)
    const done = this.open.slice(0, count)
    this.open = this.open.slice(count)
    this.settled += count
    this.output.show(done, this.open)
  }
}

async function follow(
  api: Api,
  id: string,
  log: GrowingLog,
  signal: AbortSignal,
  tail: number | undefined,
): Promise<void> {
  const first = tail === undefined ? 1 : await firstRowOfTail(api, id, tail)
  let lastEventId: string | undefined
  const open = () => {
    const headers = {
      Accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
    }
    return api.stream(`jobs/${id}/log/stream?as=rows&row=${first}`, { headers, signal })
  }
  for await (const event of new Reconnecting({ signal }).events(open)) {
    lastEventId = event.id ?? lastEventId
    if (event.event === 'end') return log.end()
    if (event.event === 'deleted') throw new Refused('The log of this job was deleted.')
    if (event.event !== 'rows') continue
    const { from, rows } = JSON.parse(event.data) as { from: number; rows: Row[] }
    log.set(from, rows)
  }
}

async function firstRowOfTail(api: Api, id: string, tail: number): Promise<number> {
  const { total } = await api.get<{ total: number }>(`jobs/${id}/log/rows?tail=1`)
  return Math.max(1, total - tail + 1)
}

function openOutput(options: LogOptions): LogOutput {
  const { stdout } = process
  if (options.json) return linesOutput((row) => void stdout.write(`${JSON.stringify(rowJson(row))}\n`))
  const style = openStyle(options)
  const render = (row: Row) => renderRow(row, style, options.times === true)
  if (!stdout.isTTY || process.env['TERM'] === 'dumb') {
    return linesOutput((row) => {
      if (!isMarker(row)) stdout.write(`${render(row)}\n`)
    })
  }
  return terminalOutput(stdout, render)
}

/** The last row may still grow. */
export function linesOutput(print: (row: Row) => void): LogOutput {
  return {
    openRows: () => 1,
    show: (settled) => settled.forEach((row) => print(row)),
    close: () => {},
  }
}

interface TerminalSize {
  columns: number
  rows: number
  write(text: string): unknown
}

/** The server changes at most the last hundred rows, as a terminal of that height would. */
const MOST_OPEN_ROWS = 100

export function terminalOutput(output: TerminalSize, render: (row: Row) => string): LogOutput {
  const area = new LiveArea({
    get columns() {
      return output.columns
    },
    write: (text) => void output.write(text),
  })
  const linesOf = (rows: readonly Row[]) => rows.filter((row) => !isMarker(row)).map(render)
  return {
    openRows: () => Math.max(1, Math.min(output.rows - 1, MOST_OPEN_ROWS)),
    show: (settled, open) => area.update(linesOf(settled), linesOf(open)),
    close: () => area.close('keep'),
  }
}

/** On stderr, so that stdout has nothing but the log. */
async function sayWhyItWaits(api: Api, id: string): Promise<void> {
  const job = await api.get<Job>(`jobs/${id}`)
  if (job.started_at !== null || job.finished_at !== null) return
  const { code, reason } = await api.get<JobWaiting>(`jobs/${id}/waiting`)
  if (code !== 'not_waiting') console.error(shortened(oneLine(reason), 500))
}
