// The rows that are in memory: blocks of 512, the ones used last kept. What is missing is fetched when it is wanted.
import type { Row } from './rows.ts'

export const blockRows = 512
const mostBlocks = 40
const retryMs = 1000

interface Block {
  rows: Array<Row | undefined>
  isLoading: boolean
  /** When a fetch of this block failed last. */
  failedAt: number
}

/** Fetches `limit` rows beginning at row `from`, which counts from 1. */
type FetchRows = (from: number, limit: number) => Promise<{ from: number; rows: readonly Row[] }>

export class Blocks {
  /** In the order of their last use. */
  readonly #blocks = new Map<number, Block>()
  readonly #fetchRows: FetchRows
  readonly #onChange: () => void
  #total = 0
  /** Changes whenever a row does. */
  version = 0
  /** Cells of the widest row that was ever in memory. */
  widest = 0

  constructor(fetchRows: FetchRows, onChange: () => void) {
    this.#fetchRows = fetchRows
    this.#onChange = onChange
  }

  get total(): number {
    return this.#total
  }

  /** The log has this many rows; later ones are no longer in it. */
  setTotal(total: number): void {
    if (total < this.#total) this.#cut(total)
    if (total !== this.#total) this.version++
    this.#total = total
  }

  row(number: number): Row | undefined {
    return this.#blocks.get(blockOf(number))?.rows[placeIn(number)]
  }

  /** From row `from` on, the log is this. */
  replaceFrom(from: number, rows: readonly Row[]): void {
    this.#cut(from - 1)
    this.#total = from - 1 + rows.length
    this.#put(from, rows, (block, place, row) => (block.rows[place] = row))
    this.version++
  }

  /** Rows that a fetch brought. What a stream has written since is newer and stays. */
  fill(from: number, rows: readonly Row[]): void {
    const known = rows.slice(0, Math.max(0, this.#total - from + 1))
    this.#put(from, known, (block, place, row) => (block.rows[place] ??= row))
    this.version++
  }

  /** Fetches what is missing of these rows. */
  want(first: number, last: number): void {
    const end = Math.min(last, this.#total)
    for (let index = blockOf(Math.max(first, 1)); index <= blockOf(end); index++) {
      const block = this.#use(index)
      if (block.isLoading || Date.now() - block.failedAt < retryMs) continue
      const from = firstMissing(block, index, this.#total)
      if (from !== null) void this.#load(block, from, index)
    }
  }

  /** Numbers and texts of the rows in memory, in order. */
  *loaded(): Generator<readonly [number, Row]> {
    for (const index of [...this.#blocks.keys()].sort((a, b) => a - b)) {
      const rows = this.#blocks.get(index)?.rows ?? []
      for (const [at, row] of rows.entries()) if (row !== undefined) yield [index * blockRows + at + 1, row]
    }
  }

  async #load(block: Block, from: number, index: number): Promise<void> {
    block.isLoading = true
    try {
      const answer = await this.#fetchRows(from, (index + 1) * blockRows - from + 1)
      this.fill(answer.from, answer.rows)
    } catch {
      block.failedAt = Date.now()
      setTimeout(this.#onChange, retryMs)
    } finally {
      block.isLoading = false
      this.#onChange()
    }
  }

  #put(from: number, rows: readonly Row[], write: (block: Block, place: number, row: Row) => void): void {
    let index = -1
    let block: Block | undefined
    rows.forEach((row, at) => {
      if (block === undefined || blockOf(from + at) !== index) {
        index = blockOf(from + at)
        block = this.#use(index)
      }
      write(block, placeIn(from + at), row)
      this.widest = Math.max(this.widest, row.cells)
    })
  }

  #use(index: number): Block {
    const block = this.#blocks.get(index) ?? { rows: [], isLoading: false, failedAt: 0 }
    this.#blocks.delete(index)
    this.#blocks.set(index, block)
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= mostBlocks) break
      this.#blocks.delete(oldest)
    }
    return block
  }

  #cut(total: number): void {
    for (const [index, { rows }] of this.#blocks) {
      const kept = total - index * blockRows
      if (kept <= 0) this.#blocks.delete(index)
      else if (kept < rows.length) rows.length = kept
    }
  }
}

const blockOf = (number: number) => Math.floor((number - 1) / blockRows)
const placeIn = (number: number) => (number - 1) % blockRows

function firstMissing({ rows }: Block, index: number, total: number): number | null {
  const length = Math.min(blockRows, total - index * blockRows)
  for (let at = 0; at < length; at++) if (rows[at] === undefined) return index * blockRows + at + 1
  return null
}
