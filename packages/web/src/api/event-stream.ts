// An event stream that is opened again when it ends. EventSource cannot send the header that proves the session, and it always
// asks for the same address.
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { failureOf, onReachable } from './call.ts'
import { pageHeaders } from './session.ts'

export type ServerEvent = EventSourceMessage

const firstWaitMs = 1000
const longestWaitMs = 30_000
/** The server writes something every 15 seconds. */
const silenceMs = 40_000

interface StreamInput {
  /** Where to read. Asked for at every attempt. */
  address: () => string
  onOpen: () => void
  onEvent: (event: ServerEvent) => void
  /** The server answered with this status. An attempt that would be refused again comes late. */
  onRefused: (status: number) => 'soon' | 'late'
  /** The next attempt comes later. `isBroken`: the server could not be reached. */
  onWait: (isBroken: boolean) => void
}

/** How an attempt came to its end: the server ended or refused the stream, or the connection broke. */
type End = 'ended' | 'soon' | 'late' | 'broken'

export class EventStream {
  readonly #input: StreamInput
  readonly #closed = new AbortController()
  #connection = new AbortController()
  #isRestarting = false
  #failures = 0
  /** It waits because the server could not be reached. */
  #isBroken = false
  #wake: () => void = () => undefined

  constructor(input: StreamInput) {
    this.#input = input
    window.addEventListener('online', () => this.#wake(), { signal: this.#closed.signal })
    const unsubscribe = onReachable((isReachable) => {
      if (isReachable && this.#isBroken) this.#wake()
    })
    this.#closed.signal.addEventListener('abort', unsubscribe)
    void this.#run()
  }

  /** Opens it again, at a new address. */
  restart(): void {
    this.#isRestarting = true
    this.#connection.abort()
    this.#wake()
  }

  close(): void {
    this.#closed.abort()
    this.#connection.abort()
    this.#wake()
  }

  async #run(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      this.#connection = new AbortController()
      this.#isRestarting = false
      this.#isBroken = false
      const end = await this.#read(this.#connection).catch((): End => 'broken')
      if (this.#closed.signal.aborted) return
      if (this.#isRestarting) continue
      this.#isBroken = end === 'broken'
      this.#failures = end === 'ended' ? 0 : this.#failures + 1
      this.#input.onWait(this.#isBroken)
      await this.#wait(end === 'late' ? longestWaitMs : waitMs(this.#failures))
    }
  }

  /** Throws when the connection broke. */
  async #read(connection: AbortController): Promise<End> {
    const { signal } = connection
    const watch = () => setTimeout(() => connection.abort(), silenceMs)
    let silence = watch()
    try {
      const { ok, status, body } = await fetch(this.#input.address(), { headers: pageHeaders(), signal })
      if (!ok || body === null) return this.#input.onRefused(status)
      this.#failures = 0
      this.#input.onOpen()
      await readEvents(body, this.#input.onEvent, () => {
        clearTimeout(silence)
        silence = watch()
      })
      return 'ended'
    } finally {
      clearTimeout(silence)
      connection.abort()
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** Reads a stream that ends by itself, once. Throws an ApiFailure if it is refused. */
export async function readStream(
  address: string,
  signal: AbortSignal,
  onEvent: (event: ServerEvent) => void,
): Promise<void> {
  const silent = new AbortController()
  const watch = () => setTimeout(() => silent.abort(), silenceMs)
  let silence = watch()
  try {
    const response = await fetch(address, {
      headers: pageHeaders(),
      signal: AbortSignal.any([signal, silent.signal]),
    })
    const { ok, status, headers, body } = response
    if (!ok || body === null) throw failureOf({ ok, status, headers, text: await response.text() }, 'GET')
    await readEvents(body, onEvent, () => {
      clearTimeout(silence)
      silence = watch()
    })
  } finally {
    clearTimeout(silence)
  }
}

/** `onChunk` learns of everything that arrives, such as the comments that keep a connection open. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: ServerEvent) => void,
  onChunk: () => void,
): Promise<void> {
  const parser = createParser({ onEvent })
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    onChunk()
    parser.feed(value)
  }
}

/** Each wait is by chance, so that all pages do not come back at once. */
export const waitMs = (failures: number, random = Math.random): number =>
  failures === 0
    ? firstWaitMs * random()
    : Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs) * (0.5 + random() / 2)
