// A place in the outbox: a snapshot of PostgreSQL, as `xmin:xmax:running,running`. It names exactly the transactions that had
// committed then. An event is behind the cursor if its transaction is among them, and in front of it otherwise. So nothing
// is missed, although transactions commit in another order than they begin, and one long transaction delays no event of
// the others.

export interface Cursor {
  text: string
  /** No transaction from here on had ended. */
  end: number
  /** Those before the end that had not ended. */
  running: readonly number[]
}

/** PostgreSQL's connections limit the number of running transactions; a URL and a header must have room for them. */
const longest = 6000

/** null: not a cursor. */
export function readCursor(text: string): Cursor | null {
  if (text.length > longest || !/^\d{1,15}:\d{1,15}:(\d{1,15}(,\d{1,15})*)?$/.test(text)) return null
  const [, end = '', running = ''] = text.split(':')
  return { text, end: Number(end), running: running === '' ? [] : running.split(',').map(Number) }
}

/** For texts that PostgreSQL wrote. */
export function cursorOf(snapshot: string): Cursor {
  const cursor = readCursor(snapshot)
  if (cursor === null) throw new Error(`PostgreSQL wrote a snapshot of an unknown form: ${snapshot}`)
  return cursor
}

/** Whether a transaction's events are in front of the cursor, so that its reader has not seen them. */
export const isInFront = ({ end, running }: Cursor, transaction: number): boolean =>
  transaction >= end || running.includes(transaction)
