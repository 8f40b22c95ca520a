// One event stream of an organization. It is opened again when it ends, with waits of 1 to 30 seconds after failures.
import { addressOf, call, onReachable, pageHeaders } from './call.ts'
import { readEvents, type ServerEvent } from './event-source.ts'

const firstWaitMs = 1000
const longestWaitMs = 30_000
/** The server writes something every 15 seconds. */
const silenceMs = 40_000

export interface StreamInput {
  org: string
  /** From where to read, and the builds whose jobs are wanted. Asked for at every opening. */
  plan: () => { after: string | null; builds: readonly string[] }
  onOpen: (builds: readonly string[]) => void
  /** The server could not be reached. */
  onBroken: () => void
  onEvent: (event: ServerEvent) => void
  /** The server does not take the cursor. */
  onRefused: () => void
}

/** How a stream came to its end: the server ended it, failed, or refused it; or the connection broke. */
type End = 'ended' | 'failed' | 'refused' | 'broken'

export class LiveStream {
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

  /** Opens it again with a new plan. */
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
      const end = await this.#read(this.#connection.signal).catch((): End => 'broken')
      if (this.#closed.signal.aborted) return
      if (this.#isRestarting) continue
      this.#isBroken = end === 'broken'
      if (this.#isBroken) this.#input.onBroken()
      this.#failures = end === 'ended' ? 0 : this.#failures + 1
      await this.#wait(end === 'refused' ? longestWaitMs : waitMs(this.#failures))
    }
  }

  /** Throws when the connection broke. */
  async #read(signal: AbortSignal): Promise<End> {
    const { after, builds } = this.#input.plan()
    const url = addressOf(
      '/v2/organizations/{org}/events',
      { org: this.#input.org },
      { after, build: builds },
    )
    const response = await fetch(url, { headers: pageHeaders, signal })
    if (!response.ok || response.body === null) return this.#refused(response)
    this.#failures = 0
    this.#input.onOpen(builds)
    let timer = this.#watch()
    try {
      for await (const event of readEvents(response.body)) {
        clearTimeout(timer)
        timer = this.#watch()
        if (event !== null) this.#input.onEvent(event)
      }
      return 'ended'
    } finally {
      clearTimeout(timer)
    }
  }

  #watch(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#connection.abort(), silenceMs)
  }

  async #refused({ status }: Response): Promise<End> {
    if (status >= 500) return 'failed'
    if (status === 401) await call('GET /v2/user', { params: {} }).catch(() => undefined)
    else if (status !== 429) this.#input.onRefused()
    return 'refused'
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

/** Each wait is by chance, so that all pages do not come back at once. */
export const waitMs = (failures: number, random = Math.random): number =>
  failures === 0
    ? firstWaitMs * random()
    : Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs) * (0.5 + random() / 2)
