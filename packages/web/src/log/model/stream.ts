// The rows of a growing log, as they come. A broken connection is opened again, and the rows that may have changed
// meanwhile are asked for again. A hidden page gives its connection up after a while, since browsers allow few.
import { readEvents, type ServerEvent } from '../../api/event-source.ts'
import type { WireRow } from './rows.ts'

/** The cursor reaches the last 100 rows; earlier ones never change. */
const changeableRows = 100
const hiddenMs = 30_000
/** The server writes something every 15 seconds. */
const silenceMs = 40_000
const firstWaitMs = 1000
const mostWaitMs = 30_000

export type StreamState = 'connecting' | 'live' | 'waiting' | 'hidden' | 'ended' | 'deleted'

export interface StreamInput {
  /** Opens the stream from a row on. */
  open: (row: number, signal: AbortSignal) => Promise<Response>
  /** Rows of the log that are known. */
  rows: () => number
  onRows: (from: number, rows: WireRow[]) => void
  onState: (state: StreamState) => void
}

/** The row from which a reader that knows `rows` rows has to ask. */
export const resumeRow = (rows: number): number => Math.max(1, rows - changeableRows + 1)

/** Waits between attempts: 1 to 30 seconds, each by chance, so that all pages do not come back at once. */
export const waitMs = (attempt: number, random = Math.random): number =>
  Math.min(firstWaitMs * 2 ** attempt, mostWaitMs) * (0.5 + random() / 2)

/** Returns the function that ends it. */
export function followStream(input: StreamInput): () => void {
  const closed = new AbortController()
  void run(input, closed.signal)
  return () => closed.abort()
}

async function run(input: StreamInput, closed: AbortSignal): Promise<void> {
  let attempt = 0
  while (!closed.aborted) {
    if (document.hidden) {
      input.onState('hidden')
      await untilVisible(closed)
      continue
    }
    input.onState('connecting')
    const connection = connectionOf(closed)
    try {
      const response = await input.open(resumeRow(input.rows()), connection.signal)
      const outcome = await read(response, input, connection.alive, () => (attempt = 0))
      if (outcome === 'over') return
    } catch {
      // The connection broke, or we gave it up. The next attempt tells.
    } finally {
      connection.end()
    }
    if (closed.aborted || document.hidden) continue
    input.onState('waiting')
    await delay(waitMs(attempt++), closed)
  }
}

async function read(
  response: Response,
  input: StreamInput,
  alive: () => void,
  onOpen: () => void,
): Promise<'over' | 'again'> {
  if (!response.ok || response.body === null) {
    // After a new sign-in the next attempt succeeds.
    const isRefused = response.status === 403 || response.status === 404
    if (isRefused) input.onState('ended')
    return isRefused ? 'over' : 'again'
  }
  onOpen()
  input.onState('live')
  for await (const message of readEvents(response.body)) {
    alive()
    if (message !== null && apply(message, input)) return 'over'
  }
  return 'again'
}

function apply({ event, data }: ServerEvent, input: StreamInput): boolean {
  if (event === 'rows') {
    const { from, rows } = JSON.parse(data) as { from: number; rows: WireRow[] }
    input.onRows(from, rows)
  }
  if (event === 'end') input.onState('ended')
  if (event === 'deleted') input.onState('deleted')
  return event === 'end' || event === 'deleted'
}

/** Aborts when all is over, when the server is silent, and when the page has been hidden for a while. */
function connectionOf(closed: AbortSignal) {
  const connection = new AbortController()
  const abort = () => connection.abort()
  let silence = setTimeout(abort, silenceMs)
  let hidden: ReturnType<typeof setTimeout> | undefined
  const onVisibility = () => {
    clearTimeout(hidden)
    if (document.hidden) hidden = setTimeout(abort, hiddenMs)
  }
  closed.addEventListener('abort', abort)
  document.addEventListener('visibilitychange', onVisibility)
  onVisibility()
  return {
    signal: connection.signal,
    alive: () => {
      clearTimeout(silence)
      silence = setTimeout(abort, silenceMs)
    },
    end: () => {
      abort()
      clearTimeout(silence)
      clearTimeout(hidden)
      closed.removeEventListener('abort', abort)
      document.removeEventListener('visibilitychange', onVisibility)
    },
  }
}

const untilVisible = (closed: AbortSignal) => until(document, 'visibilitychange', closed, null)

/** Ends early when the browser is online again. */
const delay = (ms: number, closed: AbortSignal) => until(window, 'online', closed, ms)

function until(target: EventTarget, event: string, closed: AbortSignal, ms: number | null): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      target.removeEventListener(event, done)
      closed.removeEventListener('abort', done)
      resolve()
    }
    const timer = ms === null ? undefined : setTimeout(done, ms)
    target.addEventListener(event, done)
    closed.addEventListener('abort', done)
  })
}
