// Where rows are on a page whose rows may take several lines. Rows that are not in memory count one line, so only the
// wrapped rows in memory are listed, by position.
import { lastIndex } from '../model/groups.ts'

export const rowHeight = 20

export class Heights {
  readonly #positions: Float64Array
  /** Lines beyond the first of all listed rows up to and including this one. */
  readonly #extra: Float64Array
  readonly rows: number

  /** `wrapped` lists rows of more than one line in order: position, lines. */
  constructor(rows: number, wrapped: ReadonlyArray<readonly [number, number]> = []) {
    this.rows = rows
    this.#positions = Float64Array.from(wrapped, ([position]) => position)
    this.#extra = new Float64Array(wrapped.length)
    let sum = 0
    wrapped.forEach(([, lines], index) => (this.#extra[index] = sum += lines - 1))
  }

  get height(): number {
    return (this.rows + (this.#extra.at(-1) ?? 0)) * rowHeight
  }

  /** The top of a row in pixels. */
  top(position: number): number {
    const before = lastIndex(this.#positions.length, (index) => (this.#positions[index] ?? 0) < position)
    return (position + (this.#extra[before] ?? 0)) * rowHeight
  }

  /** The row at a height in pixels. */
  at(pixels: number): number {
    const line = Math.max(0, Math.floor(pixels / rowHeight))
    const before = lastIndex(this.#positions.length, (index) => this.#lineOf(index) <= line)
    if (before === -1) return this.#within(line)
    const own = this.#positions[before] ?? 0
    return this.#within(Math.max(own, line - (this.#extra[before] ?? 0)))
  }

  /** The first line of a listed row. */
  #lineOf(index: number): number {
    return (this.#positions[index] ?? 0) + (this.#extra[index - 1] ?? 0)
  }

  #within(position: number): number {
    return Math.max(0, Math.min(position, this.rows - 1))
  }
}
