// Finds the groups of a log and the row that shows why the job failed, while the rows pass in order.
import { FailingLineFinder, type FinderState } from '../failing-line/finder.ts'
import { openMarker, opensSection } from '../failing-line/sections.ts'
import { textOf, type Row } from '../screen/row.ts'

/** A group begins with a row like "--- Tests". */
export interface Group {
  kind: string
  name: string
  row: number
  time: number | null
}

export interface OutlineState {
  groupCount: number
  firstTime: number | null
  lastTime: number | null
  /** Numbers of groups that such rows open. */
  openedGroups: number[]
  /** null: no row has passed. */
  finder: FinderState | null
}

const mostGroups = 10_000
const mostOfName = 500
const header = /^(---|\+\+\+|~~~) (.*)/s
const redStyle = /\bfg(?:1|9)\b/

/** Servers of the release before need these fields in a stored state. */
const knownBefore = { open: { failing: null, last: null }, isOpenMarked: false, marked: null }

export class Outline {
  /** The groups since this object was created. */
  readonly groups: Group[] = []
  readonly #state: OutlineState

  readonly #finder: FailingLineFinder

  constructor(state: OutlineState | null = null) {
    this.#state =
      state === null
        ? { groupCount: 0, firstTime: null, lastTime: null, openedGroups: [], finder: null }
        : { ...state, openedGroups: [...state.openedGroups] }
    this.#finder = new FailingLineFinder(state?.finder ?? undefined)
  }

  get state(): OutlineState {
    return { ...this.#state, finder: this.#finder.state, ...knownBefore }
  }

  push(number: number, row: Row): void {
    const state = this.#state
    if (row.time !== null) {
      state.firstTime ??= row.time
      state.lastTime = Math.max(state.lastTime ?? row.time, row.time)
    }
    const text = textOf(row)
    if (text === '') return
    const code = text.charCodeAt(0)
    const isHeader = (code === 0x2d || code === 0x2b || code === 0x7e) && this.#begin(number, row, text)
    if (isHeader && opensSection(text.slice(4))) this.#finder.beginSection(number)
    else if (code === 0x5e && openMarker.test(text)) this.#mark()
    else this.#finder.push(number, text, isRed(row))
  }

  /** If the log ends here. The failing row is where a reader of a failed job looks first. */
  get end(): OutlineEnd {
    const { openedGroups, firstTime, lastTime } = this.#state
    return { openedGroups, failingRow: this.#finder.row, firstTime, lastTime }
  }

  #begin(number: number, { time }: Row, text: string): boolean {
    const [, kind, name] = header.exec(text) ?? []
    if (kind === undefined || name === undefined) return false
    const state = this.#state
    if (state.groupCount === mostGroups) return true
    state.groupCount++
    this.groups.push({ kind, name: name.trimEnd().slice(0, mostOfName), row: number, time })
    return true
  }

  #mark(): void {
    const state = this.#state
    this.#finder.mark()
    if (state.groupCount > 0 && state.openedGroups.at(-1) !== state.groupCount - 1)
      state.openedGroups.push(state.groupCount - 1)
  }
}

const isRed = ({ runs }: Row) => runs.some(({ style, text }) => redStyle.test(style) && text.trim() !== '')

/** What is known when all rows were seen. */
export interface OutlineEnd {
  openedGroups: readonly number[]
  failingRow: number | null
  firstTime: number | null
  lastTime: number | null
}

export interface LogOutline extends Omit<OutlineEnd, 'openedGroups'> {
  groups: Group[]
}

/** `groups` are all groups of the log. */
export function summarize(groups: readonly Group[], { openedGroups, ...end }: OutlineEnd): LogOutline {
  const opened = new Set(openedGroups)
  return {
    groups: groups.map((group, index) => (opened.has(index) ? { ...group, kind: '+++' } : group)),
    ...end,
  }
}
