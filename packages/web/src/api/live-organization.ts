// The live updates of one organization in this tab. One tab leads: it holds the event stream and relays what comes to the
// others. Without Web Locks, as on plain http, every visible tab has a stream of its own.
import { addressOf, call, newKey, reportReachable } from './call.ts'
import { EventStream, type ServerEvent } from './event-stream.ts'
import type { Changes } from './live-changes.ts'
import { CursorHistory } from './live-cursors.ts'
import type { LiveMessage } from './live-messages.ts'
import { Wants, type Watched } from './live-wants.ts'
import { whileVisible } from './while-visible.ts'

const repeatMs = 30_000
/** Tabs answer a new leader within this time. */
const answersMs = 100

interface Listener {
  onChanges: (changes: Changes) => void
  /** What is on the page may be out of date: one build, or everything (null). */
  onReset: (build: string | null) => void
}

export class LiveOrganization {
  readonly #org: string
  readonly #listener: Listener
  readonly #tab = newKey()
  readonly #closed = new AbortController()
  readonly #channel: BroadcastChannel | null
  readonly #history = new CursorHistory()
  readonly #wants = new Wants()
  #builds: readonly Watched[] = []
  /** What the open stream tells of, and what it was last opened for. */
  #watching: readonly string[] = []
  #planned: readonly string[] = []
  #stream: EventStream | null = null
  #restartTimer: ReturnType<typeof setTimeout> | undefined

  constructor(org: string, listener: Listener) {
    this.#org = org
    this.#listener = listener
    const { signal } = this.#closed
    const hasLocks = 'locks' in navigator
    this.#channel = hasLocks ? new BroadcastChannel(`millrace.live.${org}`) : null
    this.#channel?.addEventListener('message', ({ data }: MessageEvent<LiveMessage>) => this.#receive(data))
    document.addEventListener('visibilitychange', () => this.#tell(), { signal })
    window.addEventListener('pagehide', () => this.#send({ type: 'leave', tab: this.#tab }), { signal })
    const timer = setInterval(() => this.#tell(), repeatMs)
    signal.addEventListener('abort', () => clearInterval(timer))
    if (hasLocks) {
      void this.#lead()
    } else {
      const end = whileVisible(() => this.#open())
      signal.addEventListener('abort', end)
    }
  }

  /** The builds on this page. */
  watch(builds: readonly Watched[]): void {
    this.#builds = builds
    this.#tell()
  }

  close(): void {
    this.#send({ type: 'leave', tab: this.#tab })
    this.#closed.abort()
    this.#channel?.close()
  }

  async #lead(): Promise<void> {
    const { signal } = this.#closed
    const wait = { signal, mode: 'exclusive' as const }
    const lead = async () => {
      this.#send({ type: 'who' })
      await new Promise((resolve) => setTimeout(resolve, answersMs))
      if (signal.aborted) return
      const close = this.#open()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      close()
    }
    await navigator.locks.request(`millrace.live.${this.#org}`, wait, lead).catch(() => undefined)
  }

  /** Returns the function that closes it. */
  #open(): () => void {
    this.#tell()
    const stream = new EventStream({
      address: () => addressOf('/v2/organizations/{org}/events', { org: this.#org }, this.#plan()),
      onOpen: () => {
        this.#watching = this.#planned
        this.#reportReachable(true)
      },
      onEvent: (event) => {
        this.#send({ type: 'event', event, watching: this.#watching })
        this.#apply(event, this.#watching)
      },
      onRefused: (status) => this.#refused(status),
      onWait: (isBroken) => {
        if (isBroken) this.#reportReachable(false)
      },
    })
    this.#stream = stream
    return () => {
      clearTimeout(this.#restartTimer)
      stream.close()
      this.#stream = null
      this.#watching = []
      this.#planned = []
    }
  }

  #refused(status: number): 'soon' | 'late' {
    if (status >= 500) return 'soon'
    if (status === 401) {
      // Its answer tells the page that the session is over.
      void call('GET /v2/user', { params: {} }).catch(() => undefined)
    } else if (status !== 429) {
      // The server does not take the cursor.
      this.#history.clear()
      this.#reset(null)
    }
    return 'late'
  }

  /** Goes back to before the oldest snapshot of a build that is new to the stream. */
  #plan(): { after: string | null; build: readonly string[] } {
    const chosen = this.#wants.choose(Date.now())
    const build = chosen.map(({ id }) => id)
    const added = chosen.filter(({ id }) => !this.#watching.includes(id))
    this.#planned = build
    if (this.#history.last === null) {
      const [first, ...others] = added
      for (const { id } of others) this.#reset(id)
      return { after: first?.cursor ?? null, build }
    }
    let from = { cursor: this.#history.last, atMs: Infinity }
    for (const { id, sinceMs } of added) {
      const place = this.#history.before(sinceMs)
      if (place === null) this.#reset(id)
      else if (place.atMs < from.atMs) from = place
    }
    return { after: from.cursor, build }
  }

  #apply({ event, id, data }: ServerEvent, watching: readonly string[]): void {
    const nowMs = Date.now()
    const body = JSON.parse(data) as Changes & { cursor?: string }
    const cursor = event === 'changes' ? id : body.cursor
    if (cursor !== undefined) this.#history.add(cursor, nowMs)
    this.#builds = this.#builds.map((build) =>
      watching.includes(build.id) ? { ...build, sinceMs: nowMs } : build,
    )
    if (event === 'changes') this.#listener.onChanges(body)
    if (event === 'reset') this.#listener.onReset(null)
  }

  #reportReachable(isReachable: boolean): void {
    this.#send({ type: 'reachable', isReachable })
    reportReachable(isReachable)
  }

  #reset(build: string | null): void {
    this.#send({ type: 'reset', build })
    this.#listener.onReset(build)
  }

  #receive(message: LiveMessage): void {
    if (message.type === 'event') this.#apply(message.event, message.watching)
    else if (message.type === 'reset') this.#listener.onReset(message.build)
    else if (message.type === 'reachable') reportReachable(message.isReachable)
    else if (message.type === 'who') this.#tell()
    else if (message.type === 'leave') this.#wants.remove(message.tab)
    else this.#wanted({ ...message, atMs: Date.now() })
  }

  #tell(): void {
    const want = { tab: this.#tab, isVisible: !document.hidden, builds: this.#builds }
    this.#send({ type: 'want', ...want })
    this.#wanted({ ...want, atMs: Date.now() })
  }

  #wanted(want: Parameters<Wants['set']>[0]): void {
    this.#wants.set(want)
    if (this.#stream === null) return
    const isNew = this.#wants.choose(Date.now()).some(({ id }) => !this.#planned.includes(id))
    if (!isNew) return
    clearTimeout(this.#restartTimer)
    this.#restartTimer = setTimeout(() => this.#stream?.restart(), 20)
  }

  #send(message: LiveMessage): void {
    this.#channel?.postMessage(message)
  }
}
