// Where the event stream stood, and when. A page that starts to watch a build has a snapshot of it; the stream is then opened
// again from a place before that snapshot, so that no change falls between the two.

const mostKept = 200

export class CursorHistory {
  readonly #seen: Array<{ cursor: string; atMs: number }> = []

  /** The newest cursor. */
  get last(): string | null {
    return this.#seen.at(-1)?.cursor ?? null
  }

  add(cursor: string, atMs: number): void {
    this.#seen.push({ cursor, atMs })
    if (this.#seen.length > mostKept) this.#seen.shift()
  }

  /** The newest cursor that was received up to that time; null if all are newer. */
  before(timeMs: number): { cursor: string; atMs: number } | null {
    return this.#seen.findLast(({ atMs }) => atMs <= timeMs) ?? null
  }

  clear(): void {
    this.#seen.length = 0
  }
}
