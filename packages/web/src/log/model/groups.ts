// Folding. A group begins with its header row and ends before the next one. The rows of a closed group are hidden, except
// its header. Positions count visible rows from 0. All is computed from the ranges of groups, since a log has millions of
// rows but at most thousands of groups.

export interface Group {
  kind: '---' | '+++' | '~~~'
  name: string
  /** The row of its header. */
  row: number
  time: number | null
  durationMs: number | null
}

export class Folding {
  readonly groups: readonly Group[]
  readonly total: number
  readonly #isOpen: (group: Group) => boolean
  /** Rows hidden before each group. */
  readonly #hiddenBefore: Float64Array
  readonly visible: number

  constructor(groups: readonly Group[], total: number, isOpen: (group: Group) => boolean) {
    this.groups = groups
    this.total = total
    this.#isOpen = isOpen
    this.#hiddenBefore = new Float64Array(groups.length + 1)
    groups.forEach((group, index) => {
      const hidden = isOpen(group) ? 0 : this.rowsIn(index)
      this.#hiddenBefore[index + 1] = (this.#hiddenBefore[index] ?? 0) + hidden
    })
    this.visible = total - (this.#hiddenBefore[groups.length] ?? 0)
  }

  isOpen(index: number): boolean {
    const group = this.groups[index]
    return group === undefined || this.#isOpen(group)
  }

  /** Rows of the group without its header. */
  rowsIn(index: number): number {
    const group = this.groups[index]
    if (group === undefined) return 0
    return Math.max(0, (this.groups[index + 1]?.row ?? this.total + 1) - group.row - 1)
  }

  /** The group of the row; -1 before the first group. */
  groupOf(row: number): number {
    return lastIndex(this.groups.length, (index) => (this.groups[index]?.row ?? 0) <= row)
  }

  /** The row at a position. */
  rowAt(position: number): number {
    const index = lastIndex(this.groups.length, (index) => this.#headerPosition(index) <= position)
    return position + 1 + (this.#hiddenBefore[Math.max(index, 0)] ?? 0)
  }

  /** The position of a row; of its group's header while the group is closed. */
  positionOf(row: number): number {
    const index = this.groupOf(row)
    if (index === -1) return row - 1
    return this.isOpen(index) ? row - 1 - (this.#hiddenBefore[index] ?? 0) : this.#headerPosition(index)
  }

  isHidden(row: number): boolean {
    const index = this.groupOf(row)
    return index !== -1 && !this.isOpen(index) && this.groups[index]?.row !== row
  }

  /** The headers of the closed groups that hide one of these rows. */
  headersHiding(from: number, to: number): number[] {
    const headers: number[] = []
    for (let index = Math.max(0, this.groupOf(from)); index <= this.groupOf(to); index++) {
      const header = this.groups[index]?.row ?? to
      if (!this.isOpen(index) && header < to) headers.push(header)
    }
    return headers
  }

  #headerPosition(index: number): number {
    return (this.groups[index]?.row ?? 0) - 1 - (this.#hiddenBefore[index] ?? 0)
  }
}

/** The last index for which the claim holds, of claims that hold up to some index; -1 when none does. */
export function lastIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Groups of a growing log: the rows from `from` on are replaced. A group lasts until the next begins. */
export function replaceGroups(groups: readonly Group[], from: number, added: readonly Group[]): Group[] {
  const kept = groups.filter(({ row }) => row < from)
  const all = [...kept, ...added]
  return all.map((group, index) => {
    const next = all[index + 1]
    if (group.durationMs !== null || next === undefined) return group
    const durationMs = group.time === null || next.time === null ? null : Math.max(0, next.time - group.time)
    return { ...group, durationMs }
  })
}
