// A screen of cells, without any shortcut: what screen.ts is compared with. It knows no times and no links.
import { restyle } from '../src/resources/builds/log/screen/style.ts'

const height = 100
const width = 4096
const longestSequence = 4096

const controlCharacter = /[\x00-\x1f\x7f]/g

interface Line {
  characters: string[]
  styles: string[]
}

type Row = Array<{ text: string; style: string }>

export class ReferenceScreen {
  #lines: Line[] = [emptyLine()]
  #row = 0
  #column = 0
  #saved = { row: 0, column: 0 }
  #style = ''
  #unread = ''
  readonly rows: Row[] = []

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
    if (this.#lines.at(-1)?.characters.length === 0) this.#lines.pop()
    for (const line of this.#lines) this.#leave(line)
    this.#lines = []
  }

  /** Processes the next character or sequence and returns its length; 0 when it is incomplete. */
  #step(input: string, at: number): number {
    const code = input.charCodeAt(at)
    if (code === 0x1b) return this.#escape(input, at)
    if (code >= 0x20 && code !== 0x7f) {
      controlCharacter.lastIndex = at
      const run = input.slice(at, controlCharacter.exec(input)?.index)
      for (const character of run) this.#put(character)
      return run.length
    }
    if (code === 0x0a) this.#newLine()
    else if (code === 0x0d) this.#column = 0
    else if (code === 0x08) this.#column = Math.max(this.#column - 1, 0)
    else if (code === 0x09) this.#column = Math.min((Math.floor(this.#column / 8) + 1) * 8, width)
    return 1
  }

  #escape(input: string, at: number): number {
    const rest = input.slice(at, at + longestSequence)
    const isCut = input.length - at < longestSequence
    const kind = rest[1]
    if (kind === undefined) return isCut ? 0 : 1
    if (kind === '[') {
      const match = /^..([0-?]*)([ -/]*)([@-~])/s.exec(rest)
      if (match === null) return isCut && /^..[ -?]*$/s.test(rest) ? 0 : 2
      if (match[2] === '') this.#control(match[3] ?? '', match[1] ?? '')
      return match[0].length
    }
    if (kind === ']' || kind === '_' || kind === 'P' || kind === '^' || kind === 'X') {
      const match = /\x07|\x1b\\/.exec(rest)
      if (match === null) return isCut ? 0 : 2
      return match.index + match[0].length
    }
    if (kind === '(' || kind === ')') return rest.length < 3 && isCut ? 0 : 3
    return 2
  }

  #control(command: string, parameters: string): void {
    const numbers = parameters.split(';').map((text) => Math.min(Number(text) || 0, 100_000))
    const [first = 0] = numbers
    const times = Math.max(first, 1)
    switch (command) {
      case 'A':
        this.#row = Math.max(this.#row - times, 0)
        break
      case 'B':
        this.#row = Math.min(this.#row + times, this.#lines.length - 1)
        break
      case 'C':
        this.#column = Math.min(this.#column + times, width)
        break
      case 'D':
        this.#column = Math.max(this.#column - times, 0)
        break
      case 'E':
        this.#row = Math.min(this.#row + times, this.#lines.length - 1)
        this.#column = 0
        break
      case 'F':
        this.#row = Math.max(this.#row - times, 0)
        this.#column = 0
        break
      case 'G':
        this.#column = Math.min(times - 1, width)
        break
      case 'J':
        // Clearing the whole screen would lose output, so only the lines below are erased.
        if (first === 0) this.#lines.length = this.#row + 1
        if (first === 0) this.#eraseLine(0)
        break
      case 'K':
        this.#eraseLine(first)
        break
      case 's':
        this.#saved = { row: this.#row, column: this.#column }
        break
      case 'u':
        this.#row = Math.min(this.#saved.row, this.#lines.length - 1)
        this.#column = this.#saved.column
        break
      case 'm':
        this.#style = restyle(this.#style, parameters)
        break
    }
  }

  #put(character: string): void {
    if (this.#column >= width) this.#newLine()
    const { characters, styles } = this.#line()
    while (characters.length < this.#column) {
      characters.push(' ')
      styles.push('')
    }
    characters[this.#column] = character
    styles[this.#column] = this.#style
    this.#column++
  }

  #newLine(): void {
    this.#row++
    this.#column = 0
    if (this.#row < this.#lines.length) return
    this.#lines.push(emptyLine())
    if (this.#lines.length <= height) return
    const first = this.#lines.shift()
    this.#row--
    this.#saved.row = Math.max(this.#saved.row - 1, 0)
    if (first !== undefined) this.#leave(first)
  }

  #eraseLine(which: number): void {
    const { characters, styles } = this.#line()
    if (which === 1) {
      const end = Math.min(this.#column + 1, characters.length)
      characters.fill(' ', 0, end)
      styles.fill('', 0, end)
      return
    }
    const length = which === 2 ? 0 : Math.min(this.#column, characters.length)
    characters.length = length
    styles.length = length
  }

  #line(): Line {
    return this.#lines[this.#row] ?? emptyLine()
  }

  #leave({ characters, styles }: Line): void {
    const runs: Row = []
    for (const [index, text] of characters.entries()) {
      const style = styles[index] ?? ''
      const last = runs.at(-1)
      if (last !== undefined && last.style === style) last.text += text
      else runs.push({ text, style })
    }
    this.rows.push(runs)
  }
}

const emptyLine = (): Line => ({ characters: [], styles: [] })
