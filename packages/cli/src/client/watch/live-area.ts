// The last lines of a terminal, which are drawn again in place. Only lines that differ are written. Lines above it scroll away
// as usual.
import { stripVTControlCharacters } from 'node:util'
import { widthOf } from '../text.ts'

interface Canvas {
  columns: number
  write(text: string): void
}

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
/** Without line wrapping, a character that the terminal shows wider than expected moves no line. */
const NO_WRAP = '\u001b[?7l'
const WRAP = '\u001b[?7h'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

export class LiveArea {
  private readonly canvas: Canvas
  private shown: readonly string[] = []
  private columns: number
  private isOpen = false

  constructor(canvas: Canvas) {
    this.canvas = canvas
    this.columns = canvas.columns
  }

  /** `permanent` lines are written above the area and stay there. */
  update(permanent: readonly string[], live: readonly string[]): void {
    const next = [...permanent, ...live]
    const isResized = this.canvas.columns !== this.columns
    const output = isResized ? this.redraw(permanent, live) : this.change(permanent, live)
    this.columns = this.canvas.columns
    this.shown = live
    if (output === '' && this.isOpen) return
    if (next.length === 0 && !this.isOpen) return
    this.canvas.write(`${this.isOpen ? '' : HIDE_CURSOR}${NO_WRAP}${output}${WRAP}`)
    this.isOpen = true
  }

  /** Leaves the lines where they are, or takes them away, and gives the terminal back. */
  close(rest: 'keep' | 'clear'): void {
    if (!this.isOpen) return
    const clear = rest === 'clear' ? `${up(this.height())}${CLEAR_BELOW}` : ''
    this.canvas.write(`${clear}${WRAP}${SHOW_CURSOR}`)
    this.shown = []
    this.isOpen = false
  }

  private change(permanent: readonly string[], live: readonly string[]): string {
    const next = [...permanent, ...live]
    const isWrapped = (line: string, index: number) => index < permanent.length && this.rowsOf(line) > 1
    const firstChange = next.findIndex((line, index) => line !== this.shown[index] || isWrapped(line, index))
    if (firstChange === -1 && next.length === this.shown.length) return ''
    const start = firstChange === -1 ? next.length : firstChange
    let output = up(this.shown.length - start)
    for (const [index, line] of next.entries()) {
      if (index < start) continue
      if (isWrapped(line, index)) {
        return `${output}${CLEAR_BELOW}${this.lines(permanent.slice(index), live)}`
      }
      output += line === this.shown[index] ? '\r\n' : `\r${line}${CLEAR_LINE}\r\n`
    }
    return next.length < this.shown.length ? `${output}${CLEAR_BELOW}` : output
  }

  /** A terminal wraps its lines anew when it becomes narrower. */
  private redraw(permanent: readonly string[], live: readonly string[]): string {
    return `${up(this.height())}\r${CLEAR_BELOW}${this.lines(permanent, live)}`
  }

  /** Permanent lines are wrapped. */
  private lines(permanent: readonly string[], live: readonly string[]): string {
    const above = permanent.map((line) => `${line}\r\n`).join('')
    return `${above === '' ? '' : `${WRAP}${above}${NO_WRAP}`}${live.map((line) => `${line}\r\n`).join('')}`
  }

  private height(): number {
    return this.shown.reduce((sum, line) => sum + this.rowsOf(line), 0)
  }

  private rowsOf(line: string): number {
    return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / Math.max(1, this.canvas.columns)))
  }
}

const up = (lines: number) => (lines > 0 ? `\u001b[${lines}A\r` : '\r')
