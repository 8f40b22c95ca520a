// A terminal that understands what the command line writes, to see what a person would see.

export class TinyTerminal {
  columns: number
  rows: number
  /** Everything that was written. */
  written = ''
  isCursorVisible = true
  doesWrap = true
  private readonly lines: string[][] = [[]]
  private row = 0
  private column = 0
  private readonly resizeListeners = new Set<() => void>()

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }

  /** All lines without colors, those that have scrolled away too. */
  get text(): string[] {
    return this.lines.map((line) => line.join('').trimEnd())
  }

  write(text: string): void {
    this.written += text
    const tokens = text.match(/\u001b\[\??[\d;]*[A-Za-z]|[^\u001b]|\u001b/g) ?? []
    for (const token of tokens) this.take(token)
  }

  on(_: 'resize', listener: () => void): void {
    this.resizeListeners.add(listener)
  }

  off(_: 'resize', listener: () => void): void {
    this.resizeListeners.delete(listener)
  }

  /** Lines that no longer fit are wrapped anew, as most terminals do. */
  resize(columns: number): void {
    this.columns = columns
    const rewrapped: string[][] = []
    let row = this.row
    for (const [index, line] of this.lines.entries()) {
      const parts = Math.max(1, Math.ceil(line.length / columns))
      if (index < this.row) row += parts - 1
      for (let part = 0; part < parts; part += 1)
        rewrapped.push(line.slice(part * columns, (part + 1) * columns))
    }
    this.lines.splice(0, this.lines.length, ...rewrapped)
    this.row = row
    for (const listener of this.resizeListeners) listener()
  }

  private take(token: string): void {
    if (token === '\r') this.column = 0
    else if (token === '\n') this.down()
    else if (token.startsWith('\u001b')) this.obey(token)
    else this.put(token)
  }

  private obey(sequence: string): void {
    const [, parameters = '', name = ''] = /^\u001b\[(\??[\d;]*)([A-Za-z])$/.exec(sequence) ?? []
    if (name === 'A')
      this.row = Math.max(Math.max(0, this.lines.length - this.rows), this.row - Number(parameters))
    else if (name === 'K') this.lines[this.row] = this.line().slice(0, this.column)
    else if (name === 'J') {
      this.lines[this.row] = this.line().slice(0, this.column)
      this.lines.splice(this.row + 1)
    } else if (parameters === '?25') this.isCursorVisible = name === 'h'
    else if (parameters === '?7') this.doesWrap = name === 'h'
    else if (name !== 'm') throw new Error(`An unknown sequence: ${JSON.stringify(sequence)}`)
  }

  private put(character: string): void {
    if (this.column >= this.columns) {
      if (!this.doesWrap) return
      this.column = 0
      this.down()
    }
    const line = this.line()
    while (line.length < this.column) line.push(' ')
    line[this.column] = character
    this.column += 1
  }

  private down(): void {
    this.row += 1
    if (this.lines[this.row] === undefined) this.lines.push([])
  }

  private line(): string[] {
    const line = this.lines[this.row] ?? []
    this.lines[this.row] = line
    return line
  }
}
