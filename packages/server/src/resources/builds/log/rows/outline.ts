// Finds the groups of a log and the row that shows why the job failed, while the rows pass in order.
import { textOf, type Row } from '../screen/row.ts'

/** A group begins with a row like "--- Tests". */
export interface Group {
  kind: string
  name: string
  row: number
  time: number | null
}

/** What is known of a group's rows. */
interface Suspects {
  /** The first row that is red or speaks of an error. */
  failing: number | null
  /** The last row with text. */
  last: number | null
}

export interface OutlineState {
  groupCount: number
  firstTime: number | null
  lastTime: number | null
  /** Of the group that the next row belongs to. */
  open: Suspects
  isOpenMarked: boolean
  /** Of the last group with such a row as `openMarker`. */
  marked: Suspects | null
  /** Numbers of groups that such rows open. */
  openedGroups: number[]
}

const mostGroups = 10_000
const mostOfName = 500
const header = /^(---|\+\+\+|~~~) (.*)/s
/** Agents write this row after the output of a failed command, to open its group. */
export const openMarker = /^\^\^\^ \+\+\+\s*$/
const errorWord = /error|fail|panic|Traceback/i
const errorStyle = /\bfg(?:1|9)\b/

const noSuspects: Suspects = { failing: null, last: null }

export class Outline {
  /** The groups since this object was created. */
  readonly groups: Group[] = []
  readonly #state: OutlineState

  constructor(state: OutlineState | null = null) {
    this.#state =
      state === null
        ? {
            groupCount: 0,
            firstTime: null,
            lastTime: null,
            open: noSuspects,
            isOpenMarked: false,
            marked: null,
            openedGroups: [],
          }
        : { ...state, openedGroups: [...state.openedGroups] }
  }

  get state(): OutlineState {
    return this.#state
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
    const isHeader = code === 0x2d || code === 0x2b || code === 0x7e ? this.#begin(number, row, text) : false
    if (isHeader) return
    if (code === 0x5e && openMarker.test(text)) return this.#mark()
    const isFailing = state.open.failing === null && (errorWord.test(text) || isRed(row))
    state.open = { failing: isFailing ? number : state.open.failing, last: number }
  }

  /** If the log ends here. The failing row is where a reader of a failed job looks first. */
  get end(): OutlineEnd {
    const { open, isOpenMarked, marked, openedGroups, firstTime, lastTime } = this.#state
    const { failing, last } = isOpenMarked ? open : (marked ?? open)
    return { openedGroups, failingRow: failing ?? last, firstTime, lastTime }
  }

  #begin(number: number, { time }: Row, text: string): boolean {
    const [, kind, name] = header.exec(text) ?? []
    if (kind === undefined || name === undefined) return false
    const state = this.#state
    if (state.isOpenMarked) state.marked = state.open
    state.open = { failing: null, last: number }
    state.isOpenMarked = false
    if (state.groupCount === mostGroups) return true
    state.groupCount++
    this.groups.push({ kind, name: name.trimEnd().slice(0, mostOfName), row: number, time })
    return true
  }

  #mark(): void {
    const state = this.#state
    state.isOpenMarked = true
    if (state.groupCount > 0 && state.openedGroups.at(-1) !== state.groupCount - 1)
      state.openedGroups.push(state.groupCount - 1)
  }
}

const isRed = ({ runs }: Row) => runs.some(({ style, text }) => errorStyle.test(style) && text.trim() !== '')

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
