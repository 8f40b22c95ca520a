// The groups of a log and which of them are open. A reader's choice stays while the log grows.
import { Folding, replaceGroups, type Group } from './groups.ts'
import { groupStartOf, opensGroup, type Row } from './rows.ts'

export class OpenGroups {
  #groups: readonly Group[] = []
  /** Rows of the headers of open groups. */
  readonly #open = new Set<number>()
  #folding: Folding | null = null

  fold(total: number): Folding {
    if (this.#folding === null || this.#folding.total !== total) {
      this.#folding = new Folding(this.#groups, total, ({ row }) => this.#open.has(row))
    }
    return this.#folding
  }

  setAll(groups: readonly Group[]): void {
    this.#groups = groups
    this.#folding = null
  }

  setOpen(headers: readonly number[], isOpen: boolean): void {
    for (const row of headers) {
      if (isOpen) this.#open.add(row)
      else this.#open.delete(row)
    }
    this.#folding = null
  }

  /** Opens what a reader wants to see first: groups marked so, the one that failed, and the last. */
  openFirst(failingRow: number | null): void {
    const failing = failingRow === null ? undefined : this.#groups.findLast(({ row }) => row <= failingRow)
    const marked = this.#groups.filter(({ kind }) => kind === '+++')
    const chosen = [...marked, failing, this.#groups.at(-1)]
    this.setOpen(
      chosen.flatMap((group) => (group === undefined ? [] : [group.row])),
      true,
    )
  }

  /** From row `from` on, the log is this. New groups are open: a reader who follows the log reads them. */
  replaceFrom(from: number, rows: readonly Row[]): void {
    const known = new Set(this.#groups.map(({ row }) => row))
    const added = groupsOf(from, rows)
    this.setAll(replaceGroups(this.#groups, from, added))
    const fresh = added.filter(({ row }) => !known.has(row)).map(({ row }) => row)
    this.setOpen([...fresh, ...this.#markedIn(from, rows)], true)
  }

  /** The headers of groups that a row among these opens. */
  #markedIn(from: number, rows: readonly Row[]): number[] {
    return rows.flatMap(({ text }, at) => {
      const group = opensGroup(text) ? this.#groups.findLast(({ row }) => row < from + at) : undefined
      return group === undefined ? [] : [group.row]
    })
  }
}

function groupsOf(from: number, rows: readonly Row[]): Group[] {
  return rows.flatMap(({ text, time }, at) => {
    const start = groupStartOf(text)
    return start === null ? [] : [{ ...start, row: from + at, time, durationMs: null }]
  })
}
