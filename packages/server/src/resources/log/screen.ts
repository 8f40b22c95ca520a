// The terminal features that logs use: colors, carriage returns, erased lines, and a cursor that moves among the last lines.
// Lines that leave the screen become HTML at once, so a log of any length takes the same memory. Every character of the log
// is escaped; the only markup is our own.

/** Lines the cursor can go back to. */
const height = 100
const width = 4096
/** A longer sequence is treated as text. */
const longestSequence = 4096

const controlCharacter = /[\x00-\x1f\x7f]/g

interface Line {
  characters: string[]
  styles: string[]
}

interface Style {
  color: string
  background: string
  flags: ReadonlySet<string>
}

const plain: Style = { color: '', background: '', flags: new Set() }

export class Screen {
  #lines: Line[] = [emptyLine()]
  #row = 0
  #column = 0
  #saved = { row: 0, column: 0 }
  #style = plain
  #attributes = ''
  #unread = ''
  #html: string[] = []
  #number = 0

  /** Returns the HTML of the lines that have left the screen. */
  write(text: string): string {
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
    return this.#flush()
  }

  /** The rest of the lines. */
  end(): string {
    if (this.#lines.at(-1)?.characters.length === 0) this.#lines.pop()
    for (const line of this.#lines) this.#leave(line)
    this.#lines = []
    return this.#flush()
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
        this.#style = restyle(this.#style, parameters === '' ? [0] : numbers)
        this.#attributes = attributesOf(this.#style)
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
    styles[this.#column] = this.#attributes
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
    this.#html.push(`<span id="L${++this.#number}">`)
    for (let start = 0; start < characters.length;) {
      let end = start + 1
      while (end < characters.length && styles[end] === styles[start]) end++
      const text = escapeHtml(characters.slice(start, end).join(''))
      const attributes = styles[start]
      this.#html.push(attributes ? `<span ${attributes}>${text}</span>` : text)
      start = end
    }
    this.#html.push('</span>\n')
  }

  #flush(): string {
    const html = this.#html.join('')
    this.#html = []
    return html
  }
}

const emptyLine = (): Line => ({ characters: [], styles: [] })

const flagsByCode: Record<number, string> = { 1: 'b', 2: 'd', 3: 'i', 4: 'u', 7: 'v', 9: 's' }
const unflag: Record<number, readonly string[]> = {
  22: ['b', 'd'],
  23: ['i'],
  24: ['u'],
  27: ['v'],
  29: ['s'],
}

function restyle(before: Style, codes: readonly number[]): Style {
  let style = before
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    const flag = flagsByCode[code]
    const removed = unflag[code]
    if (code === 0) style = plain
    else if (flag !== undefined) style = { ...style, flags: new Set([...style.flags, flag]) }
    else if (removed !== undefined)
      style = { ...style, flags: new Set([...style.flags].filter((name) => !removed.includes(name))) }
    else if (code === 38 || code === 48) {
      const { color, length } = extendedColor(codes, at + 1)
      style = code === 38 ? { ...style, color } : { ...style, background: color }
      at += length
    } else if (code === 39) style = { ...style, color: '' }
    else if (code === 49) style = { ...style, background: '' }
    else if (isBasic(code, 30)) style = { ...style, color: basicColor(code - 30) }
    else if (isBasic(code, 40)) style = { ...style, background: basicColor(code - 40) }
  }
  return style
}

/** 30–37 and 90–97 are text colors, 40–47 and 100–107 background colors. */
const isBasic = (code: number, base: number) =>
  (code >= base && code <= base + 7) || (code >= base + 60 && code <= base + 67)

const palette = [
  '#2e3436',
  '#cc0000',
  '#4e9a06',
  '#c4a000',
  '#3465a4',
  '#75507b',
  '#06989a',
  '#d3d7cf',
  '#555753',
  '#ef2929',
  '#8ae234',
  '#fce94f',
  '#729fcf',
  '#ad7fa8',
  '#34e2e2',
  '#eeeeec',
]

const basicColor = (number: number) => palette[number < 8 ? number : number - 52] ?? ''

/** `5;N` is one of 256 colors, `2;R;G;B` any. */
function extendedColor(codes: readonly number[], at: number): { color: string; length: number } {
  if (codes[at] === 5) return { color: indexedColor(codes[at + 1] ?? 0), length: 2 }
  if (codes[at] === 2) return { color: hex(codes.slice(at + 1, at + 4)), length: 4 }
  return { color: '', length: 1 }
}

function indexedColor(index: number): string {
  if (index < 16) return palette[index] ?? ''
  if (index > 255) return ''
  if (index > 231) return hex(Array.from({ length: 3 }, () => (index - 232) * 10 + 8))
  const levels = [0, 95, 135, 175, 215, 255]
  const cube = index - 16
  return hex([cube / 36, (cube / 6) % 6, cube % 6].map((level) => levels[Math.floor(level)] ?? 0))
}

const hex = (parts: readonly number[]) =>
  `#${[0, 1, 2]
    .map((at) =>
      Math.min(parts[at] ?? 0, 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`

function attributesOf({ color, background, flags }: Style): string {
  const colors = [...(color ? [`color:${color}`] : []), ...(background ? [`background:${background}`] : [])]
  return [
    ...(flags.size > 0 ? [`class="${[...flags].join(' ')}"`] : []),
    ...(colors.length > 0 ? [`style="${colors.join(';')}"`] : []),
  ].join(' ')
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
