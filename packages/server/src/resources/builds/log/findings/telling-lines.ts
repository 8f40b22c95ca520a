// Chooses the rows of a failed job's log that may tell why it failed: the last ones, those of open groups, and those that look
// like failures. At most 64 KiB are kept, whatever the size of the log.
import { cutText, plainText } from '../screen/plain-text.ts'
import { isComplaint } from '../failing-line/complaint.ts'
import { openMarker } from '../failing-line/sections.ts'
import { textOf, type Row } from '../screen/row.ts'
import { fingerprintOf } from './fingerprint.ts'

interface TellingLine {
  row: number
  text: string
}

/** What one segment of a log has. */
export interface TellingRows {
  complaints: TellingLine[]
  opened: TellingLine[]
  last: TellingLine[]
  /** The segment ends in an open group. */
  isOpen: boolean
}

export interface Findings {
  text: string
  rows: number[]
  failingRow: number | null
  failingText: string | null
  cause: string | null
}

export const mostLineCharacters = 500
const mostLastRows = 200
const mostBytes = 64 * 1024
/** An agent opens a group after its rows. */
const rowsBeforeMarker = 50

/** The first and the last lines that have room. */
class Ends {
  readonly #first: TellingLine[] = []
  #last: TellingLine[] = []
  #firstRoom: number
  #lastCharacters = 0
  readonly #limits: { last: number; lines: number }

  constructor(limits: { first: number; last: number; lines: number }) {
    this.#firstRoom = limits.first
    this.#limits = limits
  }

  add(line: TellingLine): void {
    if (this.#firstRoom > 0) {
      this.#firstRoom -= line.text.length + 1
      this.#first.push(line)
      return
    }
    this.#last.push(line)
    this.#lastCharacters += line.text.length + 1
    if (this.#last.length > 2 * this.#limits.lines || this.#lastCharacters > 2 * this.#limits.last)
      this.#trim()
  }

  get lines(): TellingLine[] {
    this.#trim()
    return [...this.#first, ...this.#last]
  }

  #trim(): void {
    const { last, lines } = this.#limits
    let start = this.#last.length
    let characters = 0
    while (start > 0 && this.#last.length - start < lines && characters < last)
      characters += (this.#last[--start]?.text.length ?? 0) + 1
    this.#last = this.#last.slice(start)
    this.#lastCharacters = characters
  }
}

const kinds = () => ({
  complaints: new Ends({ first: 12_000, last: 12_000, lines: 1000 }),
  opened: new Ends({ first: 6000, last: 8000, lines: 1000 }),
  last: new Ends({ first: 0, last: 20_000, lines: mostLastRows }),
})

/** The rows of one segment. */
export class TellingRowsFinder {
  readonly #kinds = kinds()
  #isOpen: boolean
  #before: TellingLine[] = []

  constructor(isOpen: boolean) {
    this.#isOpen = isOpen
  }

  push(number: number, row: Row): void {
    const text = textOf(row)
    if (text === '') return
    if (openMarker.test(text)) return this.#openGroup()
    const line = { row: number, text }
    const { complaints, opened, last } = this.#kinds
    if (/^(?:---|\+\+\+|~~~) /.test(text)) {
      this.#isOpen = text.startsWith('+')
      this.#before = []
    } else if (isComplaint(text) || isRed(row)) complaints.add(line)
    if (this.#isOpen) opened.add(line)
    else if (this.#before.push(line) > 2 * rowsBeforeMarker) this.#before.splice(0, rowsBeforeMarker)
    last.add(line)
  }

  get found(): TellingRows {
    const { complaints, opened, last } = this.#kinds
    return {
      complaints: plain(complaints.lines),
      opened: plain(opened.lines),
      last: plain(last.lines),
      isOpen: this.#isOpen,
    }
  }

  #openGroup(): void {
    for (const line of this.#before.slice(-rowsBeforeMarker)) this.#kinds.opened.add(line)
    this.#before = []
    this.#isOpen = true
  }
}

/** Only those that are kept, since it takes longer than to choose them. */
const plain = (lines: readonly TellingLine[]): TellingLine[] =>
  lines
    .map(({ row, text }) => ({ row, text: cutText(plainText(text).trimEnd(), mostLineCharacters) }))
    .filter(({ text }) => text !== '')

const isRed = ({ runs }: Row) =>
  runs.some(({ style, text }) => /\bfg(?:1|9)\b/.test(style) && text.trim() !== '')

/** Of all segments, one after the other. */
export class TellingLines {
  readonly #kinds = kinds()
  isOpen = false

  add({ complaints, opened, last, isOpen }: TellingRows): void {
    for (const line of complaints) this.#kinds.complaints.add(line)
    for (const line of opened) this.#kinds.opened.add(line)
    for (const line of last) this.#kinds.last.add(line)
    this.isOpen = isOpen
  }

  /** null: the log says nothing. */
  findings(failingRow: number | null): Findings | null {
    const lines = this.#mostTelling(failingRow)
    if (lines.length === 0) return null
    const failingText = lines.find(({ row }) => row === failingRow)?.text ?? null
    return {
      text: lines.map(({ text }) => text).join('\n'),
      rows: lines.map(({ row }) => row),
      failingRow: failingText === null ? null : failingRow,
      failingText,
      cause: failingText === null ? null : fingerprintOf(failingText),
    }
  }

  /** In the order of the log. */
  #mostTelling(failingRow: number | null): TellingLine[] {
    const { complaints, opened, last } = this.#kinds
    const chosen = new Map<number, TellingLine>()
    let bytes = 0
    const isFailing = ({ row }: TellingLine) => row === failingRow
    const all = [...complaints.lines, ...opened.lines, ...last.lines.toReversed()]
    for (const line of [...all.filter(isFailing), ...all]) {
      const size = Buffer.byteLength(line.text) + 1
      if (chosen.has(line.row) || bytes + size > mostBytes) continue
      bytes += size
      chosen.set(line.row, line)
    }
    return [...chosen.values()].sort((a, b) => a.row - b.row)
  }
}
