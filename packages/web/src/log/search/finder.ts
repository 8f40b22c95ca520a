// The search in one log: asks the rows in memory at once, then the server, and keeps the current match.
import { Listeners } from '../../api/listeners.ts'
import { announceNow } from '../../parts/announce.ts'
import type { LogModel } from '../model/model.ts'
import {
  countOf,
  describeFound,
  firstFrom,
  keepCurrent,
  mostMatches,
  noMatches,
  replaceMatches,
  step,
  type Matches,
  type Query,
} from './search.ts'
import { RowSearch } from './row-search.ts'
import { hitsOf, type Hit } from './hits.ts'
import { searchLog } from './search-log.ts'
import { failureText } from '../model/source.ts'

const typingMs = 150

export interface Found {
  query: Query
  matches: Matches
  /** Index in the list of matches; -1 for none. */
  current: number
  isSearching: boolean
  failure: string
  hits: ReadonlyMap<number, readonly Hit[]>
}

const emptyQuery: Query = { text: '', isRegex: false, isCaseSensitive: false }
const nothing: Found = {
  query: emptyQuery,
  matches: noMatches,
  current: -1,
  isSearching: false,
  failure: '',
  hits: new Map(),
}

export class Finder {
  readonly #model: LogModel
  readonly #goTo: (row: number) => void
  readonly #topRow: () => number
  readonly #rows = new RowSearch()
  #input: HTMLInputElement | null = null
  #found = nothing
  #asked = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(model: LogModel, topRow: () => number, goTo: (row: number) => void) {
    this.#model = model
    this.#topRow = topRow
    this.#goTo = goTo
    model.onRows((from) => void this.#searchNew(from))
  }

  readonly #listeners = new Listeners()
  subscribe = this.#listeners.add

  read = (): Found => this.#found

  /** The field of the search. */
  setInput(input: HTMLInputElement | null): void {
    this.#input = input
  }

  focus(): void {
    this.#input?.focus()
    this.#input?.select()
  }

  close(): void {
    this.#asked.abort()
    clearTimeout(this.#timer)
    this.#rows.close()
  }

  setQuery(query: Query): void {
    this.#asked.abort()
    clearTimeout(this.#timer)
    if (query.text === '') return this.#set({ ...nothing, query })
    this.#set({ ...this.#found, query, isSearching: true, failure: '' })
    this.#timer = setTimeout(() => void this.#search(query), typingMs)
  }

  step(by: 1 | -1): void {
    const { list } = this.#found.matches
    const current = step(list, this.#found.current, by)
    this.#choose(current)
    announceNow(current === -1 ? this.describe() : `${current + 1} of ${countOf(this.#found.matches)}`)
  }

  /** What was found, in words. */
  describe(): string {
    const { matches, current, isSearching } = this.#found
    return describeFound(matches, { current, isSearching, rows: this.#model.total })
  }

  async #search(query: Query): Promise<void> {
    const asked = new AbortController()
    this.#asked = asked
    const local = this.#rows.find(query, this.#model.blocks.loaded())
    const whole = searchLog(this.#model.address, query, asked.signal)
    void local.then((list) => {
      if (!asked.signal.aborted && this.#found.isSearching) this.#take({ ...noMatches, list })
    })
    try {
      const { total, isComplete, searchedRows, list } = await whole
      if (asked.signal.aborted) return
      this.#found = { ...this.#found, isSearching: false }
      const matches = { list, total, isComplete, searchedRows }
      this.#take(matches)
      announceNow(isComplete ? (total === 1 ? '1 match' : `${total} matches`) : this.describe())
    } catch (error) {
      if (asked.signal.aborted) return
      this.#set({ ...this.#found, isSearching: false, failure: failureText(error) })
    }
  }

  /** Keeps the current match, or goes to the first one below what is on screen. */
  #take(matches: Matches): void {
    const { matches: before, current } = this.#found
    const kept = keepCurrent(before.list, current, matches.list)
    const isNew = before.list[current]?.[0] !== matches.list[kept]?.[0] || kept === -1
    this.#set({ ...this.#found, matches, current: kept })
    if (isNew) this.#choose(firstFrom(matches.list, this.#topRow()))
  }

  #choose(current: number): void {
    this.#set({ ...this.#found, current })
    const match = this.#found.matches.list[current]
    if (match !== undefined) this.#goTo(match[0])
  }

  /** Rows that came while a search is shown. */
  async #searchNew(from: number): Promise<void> {
    const { query, isSearching, matches } = this.#found
    if (query.text === '' || isSearching || matches.list.length === mostMatches) return
    const rows = [...this.#model.blocks.loaded()].filter(([number]) => number >= from)
    const added = await this.#rows.find(query, rows)
    if (this.#found.query !== query || this.#found.isSearching) return
    const next = replaceMatches(this.#found.matches, from, added)
    const current = keepCurrent(this.#found.matches.list, this.#found.current, next.list)
    this.#set({ ...this.#found, matches: next, current })
  }

  #set(found: Found): void {
    const isSame = found.matches === this.#found.matches && found.current === this.#found.current
    this.#found = isSame ? found : { ...found, hits: hitsOf(found.matches.list, found.current) }
    this.#listeners.call()
  }
}
