// Commands in a real terminal, which the program `script` of util-linux provides.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { eventually, program, type Settings } from './millrace.ts'

const script = spawnSync('script', ['--version'], { encoding: 'utf8' })

export const terminalLacks = /util-linux/.test(script.stdout) ? null : 'there is no script of util-linux'

interface Session {
  output(): string
  type(text: string): void
  /** Waits until the terminal shows the text. */
  shows(text: string): Promise<void>
  /** The exit status. If the command does not end, it rejects with what the terminal shows. */
  readonly ended: Promise<number | null>
}

interface Place {
  columns?: number
  rows?: number
  folder?: string
}

/** Runs `millrace …`, in a terminal of 60 columns and 12 rows unless others are given. */
export function inTerminal(
  args: readonly string[],
  settings: Settings,
  { columns = 60, rows = 12, folder }: Place = {},
): Session {
  const quote = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`
  const command = [process.execPath, program, ...args].map(quote).join(' ')
  const child = spawn(
    'script',
    ['-qefc', `stty cols ${columns} rows ${rows}; exec ${command}`, '/dev/null'],
    {
      ...(folder === undefined ? {} : { cwd: folder }),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TERM: 'xterm-256color', ...settings },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  let failure: Error | undefined
  let status: number | null | undefined
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.on('error', (error) => (failure = error))
  child.on('close', (code) => (status = code))
  const waitFor = <T>(what: string, check: () => T | undefined) =>
    eventually(what, async () => {
      if (failure !== undefined) throw failure
      return check()
    }).catch((error: unknown) => {
      throw new Error(`${what}, but the terminal has: ${output}`, { cause: error })
    })
  const name = `millrace ${args.join(' ')}`
  return {
    output: () => output,
    type: (text) => void child.stdin.write(text),
    async shows(text) {
      await waitFor(`${name} shows “${text}”`, () => output.includes(text) || undefined)
    },
    get ended() {
      const end = waitFor(`${name} ends`, () => (status === undefined ? undefined : { status }))
      return end.then((ended) => ended.status)
    },
  }
}

/** A program for BROWSER that keeps the address it is to open. */
export function aBrowserProgram(folder: string): { path: string; opened(): Promise<string> } {
  const [path, kept] = [join(folder, 'browser'), join(folder, 'opened')]
  writeFileSync(path, `#!/bin/sh\necho "$1" > ${kept}.new && mv ${kept}.new ${kept}\n`, { mode: 0o755 })
  return {
    path,
    async opened() {
      await eventually('the browser', async () => existsSync(kept))
      return readFileSync(kept, 'utf8').trim()
    },
  }
}
