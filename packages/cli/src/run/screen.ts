// Prints the output of jobs and the progress lines, without mixing lines.
import { StringDecoder } from 'node:string_decoder'
import type { Terminal } from './terminal.ts'

const COLORS = [36, 33, 35, 32, 34, 96, 93, 95, 92, 94]
const MAX_PREFIX = 32

export class Screen {
  private readonly terminal: Terminal
  private isAtLineStart = true
  private logs = 0

  constructor(terminal: Terminal) {
    this.terminal = terminal
  }

  openLog(name: string): JobLog {
    const color = COLORS[this.logs % COLORS.length]
    this.logs += 1
    const short = name.length > MAX_PREFIX ? shorten(name) : name
    const prefix = this.terminal.hasColor ? `\u001b[${color}m${short} |\u001b[0m ` : `${short} | `
    return new JobLog(this, prefix)
  }

  /** A line of its own. */
  say(text: string): void {
    this.stream(`${this.isAtLineStart ? '' : '\n'}${text}\n`)
  }

  stream(text: string): void {
    if (text === '') return
    this.isAtLineStart = text.endsWith('\n')
    this.terminal.write(text)
  }
}

export class JobLog {
  private readonly screen: Screen
  private readonly prefix: string
  private readonly decoder = new StringDecoder('utf8')
  private isPrefixed = false
  private rest = ''

  constructor(screen: Screen, prefix: string) {
    this.screen = screen
    this.prefix = prefix
  }

  /** Another job runs at the same time: from now on every line has the job's label. */
  share(): void {
    this.isPrefixed = true
  }

  /** A single job's output is printed as it arrives; with others, line by line. */
  write(chunk: Buffer): void {
    const text = this.decoder.write(chunk)
    if (!this.isPrefixed) {
      this.screen.stream(text)
      return
    }
    const lines = `${this.rest}${text}`.split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) this.sayLine(line)
  }

  end(): void {
    const text = `${this.rest}${this.decoder.end()}`
    if (text === '') return
    if (this.isPrefixed) this.sayLine(text)
    else this.screen.stream(text)
  }

  /** A carriage return would overwrite the label. */
  private sayLine(line: string): void {
    this.screen.say(`${this.prefix}${line.replace(/\r+$/, '').replaceAll('\r', `\r${this.prefix}`)}`)
  }
}

/** Keeps both ends: jobs of one step usually differ at the end. */
function shorten(name: string): string {
  const characters = Array.from(name)
  const last = Math.floor(MAX_PREFIX / 3)
  return `${characters.slice(0, MAX_PREFIX - last - 1).join('')}…${characters.slice(-last).join('')}`
}
