// Puts the output of jobs and what is said about them on one screen, without mixing lines.
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

  /** `isShared`: other jobs write at the same time, so a line must tell whose it is. */
  openLog(name: string, isShared: () => boolean): JobLog {
    const color = COLORS[this.logs % COLORS.length]
    this.logs += 1
    const short = name.length > MAX_PREFIX ? `${name.slice(0, MAX_PREFIX - 1)}…` : name
    const prefix = this.terminal.hasColor ? `\u001b[${color}m${short} |\u001b[0m ` : `${short} | `
    return new JobLog(this, prefix, isShared)
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
  private readonly isShared: () => boolean
  private readonly decoder = new StringDecoder('utf8')
  private isPrefixed = false
  private rest = ''

  constructor(screen: Screen, prefix: string, isShared: () => boolean) {
    this.screen = screen
    this.prefix = prefix
    this.isShared = isShared
  }

  /** Alone, a job's output appears as it comes; beside others, line by line, and so until its end. */
  write(chunk: Buffer): void {
    this.isPrefixed ||= this.isShared()
    const text = this.decoder.write(chunk)
    if (!this.isPrefixed) {
      this.screen.stream(text)
      return
    }
    const lines = `${this.rest}${text}`.split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) this.screen.say(`${this.prefix}${line}`)
  }

  end(): void {
    const text = `${this.rest}${this.decoder.end()}`
    if (text === '') return
    if (this.isPrefixed) this.screen.say(`${this.prefix}${text}`)
    else this.screen.stream(text)
  }
}
