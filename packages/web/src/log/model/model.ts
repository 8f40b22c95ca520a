// One log as the page knows it: its rows in memory, its groups and which are open, and whether it still grows. It knows nothing
// of pixels. Listeners learn that something changed, not what.
import type { JobAddress } from '../../api/addresses.ts'
import { ApiFailure } from '../../api/call.ts'
import { Listeners } from '../../api/listeners.ts'
import { Blocks } from './blocks.ts'
import type { Folding } from './groups.ts'
import { OpenGroups } from './open-groups.ts'
import { readRow, type WireRow } from './rows.ts'
import { failureText, fetchIndex, fetchRows, fetchTail, streamUrl } from './source.ts'
import { followStream, type StreamState } from './stream.ts'

const tailRows = 200
const retryMs = 2000

type LogState = 'loading' | 'ready' | 'failed' | 'deleted'

export class LogModel {
  readonly address: JobAddress
  readonly blocks: Blocks
  state: LogState = 'loading'
  failure = ''
  stream: StreamState | null = null
  size = 0
  isFinal = false
  failingRow: number | null = null
  firstTime: number | null = null
  /** Groups and failing row are known, not only some rows. */
  hasIndex = false
  version = 0
  readonly #groups = new OpenGroups()
  readonly #listeners = new Listeners()
  readonly #rowListeners = new Listeners<[from: number]>()
  #stop: (() => void) | null = null
  #isClosed = false

  constructor(address: JobAddress) {
    this.address = address
    this.blocks = new Blocks(
      (from, limit) => fetchRows(address, from, limit),
      () => this.changed(),
    )
  }

  get total(): number {
    return this.blocks.total
  }

  get folding(): Folding {
    return this.#groups.fold(this.total)
  }

  subscribe = this.#listeners.add

  /** Tells when rows from a number on were replaced by a stream. */
  onRows = this.#rowListeners.add

  changed(): void {
    this.version++
    this.#listeners.call()
  }

  /** Shows the end first when the job runs; the index tells the rest. */
  async load(isRunning: boolean): Promise<void> {
    this.state = this.total === 0 ? 'loading' : 'ready'
    try {
      if (isRunning) await this.#loadTail()
      await this.#loadIndex()
      this.#begin()
    } catch (error) {
      if (this.#isClosed) return
      this.state = error instanceof ApiFailure && error.status === 404 ? 'deleted' : 'failed'
      this.failure = failureText(error)
      this.changed()
    }
  }

  close(): void {
    this.#isClosed = true
    this.#stop?.()
  }

  setOpen(headers: readonly number[], isOpen: boolean): void {
    this.#groups.setOpen(headers, isOpen)
    this.changed()
  }

  /** Opens the groups that hide these rows. */
  reveal(from: number, to = from): void {
    const headers = this.folding.headersHiding(from, to)
    if (headers.length > 0) this.setOpen(headers, true)
  }

  /** Fetches what is missing of these rows. The index has all that headers show. */
  want(rows: readonly number[]): void {
    const { groups } = this.folding
    const missing = rows.filter((row) => this.blocks.row(row) === undefined)
    for (const row of missing) if (groups[this.folding.groupOf(row)]?.row !== row) this.blocks.want(row, row)
  }

  async #loadTail(): Promise<void> {
    const { from, total, rows } = await fetchTail(this.address, tailRows)
    if (this.#isClosed) return
    this.blocks.setTotal(total)
    this.blocks.fill(from, rows)
    this.state = 'ready'
    this.changed()
  }

  async #loadIndex(): Promise<void> {
    const isFirst = !this.hasIndex
    const index = await fetchIndex(this.address)
    if (this.#isClosed) return
    if (index.isFinal || index.rows > this.total) this.blocks.setTotal(index.rows)
    this.size = index.size
    this.isFinal = index.isFinal
    this.firstTime = index.firstTime
    this.failingRow = index.failingRow
    this.#groups.setAll(index.groups)
    if (isFirst) this.#groups.openFirst(this.failingRow)
    this.hasIndex = true
    this.state = 'ready'
    this.changed()
  }

  #begin(): void {
    if (this.isFinal || this.#isClosed) return
    this.#stop = followStream({
      address: (row) => streamUrl(this.address, row),
      rows: () => this.total,
      onRows: (from, rows) => this.#replace(from, rows),
      onState: (state) => this.#streamChanged(state),
    })
  }

  #streamChanged(state: StreamState): void {
    this.stream = state
    if (state === 'deleted') this.state = 'deleted'
    if (state === 'ended') void this.#finish()
    this.changed()
  }

  /** Only the index tells durations and the failing row. */
  async #finish(): Promise<void> {
    try {
      await this.#loadIndex()
    } catch (error) {
      const isPassing = !(error instanceof ApiFailure) || error.status === 0 || error.status >= 500
      if (isPassing && !this.#isClosed) setTimeout(() => void this.#finish(), retryMs)
    }
  }

  #replace(from: number, wire: readonly WireRow[]): void {
    const rows = wire.map(readRow)
    this.blocks.replaceFrom(from, rows)
    this.firstTime ??= rows.find(({ time }) => time !== null)?.time ?? null
    this.#groups.replaceFrom(from, rows)
    this.#rowListeners.call(from)
    this.changed()
  }
}
