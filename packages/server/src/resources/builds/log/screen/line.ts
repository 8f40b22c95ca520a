// A line on the screen. Most lines are only appended to, so they consist of runs; a line that is written to elsewhere
// becomes a list of cells.
//
// Every character takes one column, also those that terminals show in two or none. Looking up the width of each character
// would slow down the replay of all logs, and rows that are stored already were made with this rule.
import type { Row, Run } from './row.ts'

export type Pen = Pick<Run, 'style' | 'link'>

export const plainPen: Pen = { style: '', link: '' }

export class Line {
  time: number | null = null
  /** In characters. */
  length = 0
  #runs: Run[] = []
  #cells: { characters: string[]; pens: Pen[] } | null = null

  /** Writes text of `columns` characters at `column`. A gap before it becomes spaces. */
  write(text: string, columns: number, column: number, pen: Pen): void {
    if (this.#cells === null && column === 0 && columns >= this.length) this.clear()
    if (this.#cells === null && column >= this.length) {
      if (column > this.length) this.#append(' '.repeat(column - this.length), plainPen)
      this.#append(text, pen)
      this.length = column + columns
      return
    }
    const { characters, pens } = this.#makeCells()
    while (characters.length < column) {
      characters.push(' ')
      pens.push(plainPen)
    }
    let at = column
    for (const character of text) {
      characters[at] = character
      pens[at] = pen
      at++
    }
    this.length = characters.length
  }

  clear(): void {
    this.#runs = []
    this.#cells = null
    this.length = 0
  }

  eraseFrom(column: number): void {
    if (column >= this.length) return
    if (column === 0) return this.clear()
    const { characters, pens } = this.#makeCells()
    characters.length = column
    pens.length = column
    this.length = column
  }

  /** Erases the characters before `end` and keeps the others where they are. */
  eraseUpTo(end: number): void {
    const { characters, pens } = this.#makeCells()
    const last = Math.min(end, characters.length)
    for (let at = 0; at < last; at++) {
      characters[at] = ' '
      pens[at] = plainPen
    }
  }

  toRow(): Row {
    return { time: this.time, runs: this.#cells === null ? this.#runs : runsOf(this.#cells) }
  }

  static fromRow({ time, runs }: Row): Line {
    const line = new Line()
    line.time = time
    for (const run of runs) line.#append(run.text, run)
    line.length = runs.reduce((length, { text }) => length + countCharacters(text), 0)
    return line
  }

  #append(text: string, { style, link }: Pen): void {
    const last = this.#runs.at(-1)
    if (last !== undefined && last.style === style && last.link === link) last.text += text
    else this.#runs.push({ text, style, link })
  }

  #makeCells(): { characters: string[]; pens: Pen[] } {
    if (this.#cells !== null) return this.#cells
    const characters: string[] = []
    const pens: Pen[] = []
    for (const run of this.#runs) {
      for (const character of run.text) {
        characters.push(character)
        pens.push(run)
      }
    }
    this.#runs = []
    this.#cells = { characters, pens }
    return this.#cells
  }
}

function runsOf({ characters, pens }: { characters: readonly string[]; pens: readonly Pen[] }): Run[] {
  const runs: Run[] = []
  for (let start = 0; start < characters.length;) {
    const { style, link } = pens[start] ?? plainPen
    let end = start + 1
    while (end < characters.length && pens[end]?.style === style && pens[end]?.link === link) end++
    runs.push({ text: characters.slice(start, end).join(''), style, link })
    start = end
  }
  return runs
}

const surrogate = /[\ud800-\udfff]/

export const countCharacters = (text: string): number =>
  surrogate.test(text) ? Array.from(text).length : text.length
