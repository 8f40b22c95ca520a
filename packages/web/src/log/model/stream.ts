// The rows of a growing log, as they come. After a break, the rows that may have changed meanwhile are asked for again.
import { EventStream } from '../../api/event-stream.ts'
import { whileVisible } from '../../api/while-visible.ts'
import type { WireRow } from './rows.ts'

/** The cursor reaches the last 100 rows; earlier ones never change. */
const changeableRows = 100

export type StreamState = 'connecting' | 'live' | 'ended' | 'deleted'

interface StreamInput {
  /** The address of the stream from a row on. */
  address: (row: number) => string
  /** Rows of the log that are known. */
  rows: () => number
  onRows: (from: number, rows: WireRow[]) => void
  onState: (state: StreamState) => void
}

/** The row from which a reader that knows `rows` rows has to ask. */
export const resumeRow = (rows: number): number => Math.max(1, rows - changeableRows + 1)

/** Returns the function that ends it. */
export function followStream({ address, rows, onRows, onState }: StreamInput): () => void {
  const finish = (state: 'ended' | 'deleted') => {
    stop()
    onState(state)
  }
  const stop = whileVisible(() => {
    onState('connecting')
    const stream = new EventStream({
      address: () => address(resumeRow(rows())),
      onOpen: () => onState('live'),
      onEvent({ event, data }) {
        if (event === 'rows') {
          const changed = JSON.parse(data) as { from: number; rows: WireRow[] }
          onRows(changed.from, changed.rows)
        }
        if (event === 'end') finish('ended')
        if (event === 'deleted') finish('deleted')
      },
      onRefused(status) {
        if (status === 403 || status === 404) finish('ended')
        // After a new sign-in the next attempt succeeds.
        return 'soon'
      },
      onWait: () => onState('connecting'),
    })
    return () => stream.close()
  })
  return stop
}
