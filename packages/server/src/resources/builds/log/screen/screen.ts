// The terminal features that logs use: colors, links, carriage returns, erased lines, and a cursor that moves among the last
// lines. Lines that leave the screen become rows at once, so a log of any length takes the same memory.
import { countCharacters, Line, type Pen, plainPen } from './line.ts'
import type { Row } from './row.ts'
import { numbersOf, restyle } from './style.ts'

/** Lines the cursor can go back to. */
export const screenHeight = 100
const width = 4096
/** A longer sequence is treated as text. */
const longestSequence = 4096
const longestLink = 2048
/** A link that its program does not end is ended after this many lines. */
const mostLinkLines = 8

const controlCharacter = /[\x00-\x1f\x7f]/g
const timeCode = /\x1b_bk;t=(\d{1,15})(?:\x07|\x1b\\)/y
const link = /^8;[^;]*;(https?:\/\/[\x21-\x7e]+)$/i

/** Everything that decides what later output looks like. */
export interface ScreenState {
  lines: Row[]
  row: number
  column: number
  saved: { row: number; column: number }
  pen: Pen
  linkLines: number
  unread: string
}

/** False at the end of a text, where the code is not a number. */
const isBetween = (code: number, first: number, last: number) => code >= first && code <= last

export class Screen {
  readonly #leave: (row: Row) => void
  #lines: Line[] = [new Line()]
  #row = 0
  #column = 0
  #saved = { row: 0, column: 0 }
  #pen = plainPen
  #linkLines = 0
  #unread = ''

  /** Calls `leave` with each line that the cursor can no longer reach. */
  constructor(leave: (row: Row) => void, state: ScreenState | null = null) {
    this.#leave = leave
    if (state === null) return
    this.#lines = state.lines.map((row) => Line.fromRow(row))
    this.#row = state.row
    this.#column = state.column
    this.#saved = { ...state.saved }
    this.#pen = state.pen
    this.#linkLines = state.linkLines
    this.#unread = state.unread
  }

  get state(): ScreenState {
    return {
      lines: this.#lines.map((line) => line.toRow()),
      row: this.#row,
      column: this.#column,
      saved: { ...this.#saved },
      pen: this.#pen,
      linkLines: this.#linkLines,
      unread: this.#unread,
    }
  }

  /** The rows on the screen, as they would be if the log ended here. */
  get rows(): Row[] {
    const isLastEmpty = this.#lines.at(-1)?.length === 0
    return (isLastEmpty ? this.#lines.slice(0, -1) : this.#lines).map((line) => line.toRow())
  }

  write(text: string): void {
    const input = this.#unread + text
    this.#unread = ''
    for (let at = 0; at < input.length;) {
      const length = this.#step(input, at)
      if (length === 0) {
        this.#unread = input.slice(at)
        break
      }
      at += length
    }
  }

  end(): void {
    for (const row of this.rows) this.#leave(row)
    this.#lines = []
  }

  /** Processes the next characters or sequence and returns their length; 0 when the sequence is incomplete. */
  #step(input: string, at: number): number {
    const code = input.charCodeAt(at)
    if (code === 0x1b) return this.#escape(input, at)
    if (code >= 0x20 && code !== 0x7f) {
      controlCharacter.lastIndex = at
      const end = controlCharacter.test(input) ? controlCharacter.lastIndex - 1 : input.length
      this.#put(input.slice(at, end))
      return end - at
    }
    if (code === 0x0a) this.#newLine()
    else if (code === 0x0d) this.#column = 0
    else if (code === 0x08) this.#moveTo(this.#row, this.#column - 1)
    else if (code === 0x09) this.#moveTo(this.#row, (Math.floor(this.#column / 8) + 1) * 8)
    return 1
  }

  #escape(input: string, at: number): number {
    const isCut = input.length - at < longestSequence
    const kind = input[at + 1]
    if (kind === undefined) return isCut ? 0 : 1
    if (kind === '[') return this.#controlSequence(input, at, isCut)
    if (kind === ']' || kind === '_' || kind === 'P' || kind === '^' || kind === 'X')
      return this.#controlString(input, at, isCut)
    if (kind === '(' || kind === ')') return input.length - at < 3 && isCut ? 0 : 3
    return 2
  }

  #controlSequence(input: string, at: number, isCut: boolean): number {
    let end = at + 2
    while (isBetween(input.charCodeAt(end), 0x30, 0x3f)) end++
    const parametersEnd = end
    while (isBetween(input.charCodeAt(end), 0x20, 0x2f)) end++
    const length = end + 1 - at
    if (!isBetween(input.charCodeAt(end), 0x40, 0x7e) || length > longestSequence) {
      while (isBetween(input.charCodeAt(end), 0x20, 0x3f)) end++
      return isCut && end === input.length ? 0 : 2
    }
    if (end === parametersEnd) this.#control(input[end] ?? '', input.slice(at + 2, parametersEnd))
    return length
  }

  #controlString(input: string, at: number, isCut: boolean): number {
    timeCode.lastIndex = at
    const time = timeCode.exec(input)
    if (time !== null) {
      this.#line().time ??= Number(time[1])
      return time[0].length
    }
    const rest = input.slice(at, at + longestSequence)
    const match = /\x07|\x1b\\/.exec(rest)
    if (match === null) return isCut ? 0 : 2
    if (rest.startsWith('\x1b]8;')) this.#link(rest.slice(2, match.index))
    return match.index + match[0].length
  }

  /** The parameters of OSC 8. An empty target, or one that is no web address, ends the link. */
  #link(parameters: string): void {
    const target = link.exec(parameters)?.[1] ?? ''
    this.#pen = { style: this.#pen.style, link: target.length > longestLink ? '' : target }
    this.#linkLines = 0
  }

  #control(command: string, parameters: string): void {
    if (command === 'm') {
      const style = restyle(this.#pen.style, parameters)
      this.#pen = style === '' && this.#pen.link === '' ? plainPen : { style, link: this.#pen.link }
      return
    }
    const [first = 0] = numbersOf(parameters)
    const times = Math.max(first, 1)
    switch (command) {
      case 'A':
        return this.#moveTo(this.#row - times, this.#column)
      case 'B':
        return this.#moveTo(this.#row + times, this.#column)
      case 'C':
        return this.#moveTo(this.#row, this.#column + times)
      case 'D':
        return this.#moveTo(this.#row, this.#column - times)
      case 'E':
        return this.#moveTo(this.#row + times, 0)
      case 'F':
        return this.#moveTo(this.#row - times, 0)
      case 'G':
        return this.#moveTo(this.#row, times - 1)
      case 'J':
        // Clearing the whole screen would lose output, so only the lines below are erased.
        if (first !== 0) break
        this.#lines.length = this.#row + 1
        this.#line().eraseFrom(this.#column)
        break
      case 'K':
        if (first === 1) this.#line().eraseUpTo(this.#column + 1)
        else if (first === 2) this.#line().clear()
        else this.#line().eraseFrom(this.#column)
        break
      case 's':
        this.#saved = { row: this.#row, column: this.#column }
        break
      case 'u':
        return this.#moveTo(this.#saved.row, this.#saved.column)
    }
  }

  /** Stays on the screen. */
  #moveTo(row: number, column: number): void {
    this.#row = Math.max(Math.min(row, this.#lines.length - 1), 0)
    this.#column = Math.max(Math.min(column, width), 0)
  }

  #put(text: string): void {
    const columns = countCharacters(text)
    if (this.#column + columns <= width) {
      this.#line().write(text, columns, this.#column, this.#pen)
      this.#column += columns
      return
    }
    const characters = Array.from(text)
    for (let at = 0; at < characters.length;) {
      if (this.#column >= width) this.#newLine()
      const part = characters.slice(at, at + width - this.#column)
      this.#line().write(part.join(''), part.length, this.#column, this.#pen)
      this.#column += part.length
      at += part.length
    }
  }

  #newLine(): void {
    this.#row++
    this.#column = 0
    if (this.#pen.link !== '' && ++this.#linkLines === mostLinkLines) this.#link('')
    if (this.#row < this.#lines.length) return
    this.#lines.push(new Line())
    if (this.#lines.length <= screenHeight) return
    const first = this.#lines.shift()
    this.#row--
    this.#saved.row = Math.max(this.#saved.row - 1, 0)
    if (first !== undefined) this.#leave(first.toRow())
  }

  #line(): Line {
    return this.#lines[this.#row] ?? new Line()
  }
}
