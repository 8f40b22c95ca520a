// The terminal of a run: questions, output, and signals.
import { createInterface } from 'node:readline/promises'

export interface Terminal {
  write(text: string): void
  hasColor: boolean
  /** A person can answer questions. */
  isInteractive: boolean
  /** null: the terminal is closed, or the user wants to stop the build. */
  ask(question: string): Promise<string | null>
  /** Calls back on each signal to stop the build. Returns a function that ends this. */
  onInterrupt(listener: () => void): () => void
}

export function processTerminal(): Terminal {
  const { stdin, stdout, env } = process
  const listeners = new Set<() => void>()
  const interrupt = (): void => {
    for (const listener of listeners) listener()
  }
  return {
    hasColor: stdout.isTTY && !env['NO_COLOR'],
    isInteractive: stdin.isTTY && stdout.isTTY,
    write: (text) => void stdout.write(text),
    async ask(question) {
      const lines = createInterface({ input: stdin, output: stdout })
      const gone = new AbortController()
      lines.on('SIGINT', () => {
        stdout.write('\n')
        interrupt()
        gone.abort()
      })
      lines.on('close', () => gone.abort())
      try {
        return await lines.question(question, { signal: gone.signal })
      } catch {
        return null
      } finally {
        lines.close()
      }
    },
    onInterrupt(listener) {
      if (listeners.size === 0) watch('on', interrupt)
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) watch('off', interrupt)
      }
    },
  }
}

/** Distinguishes a closed pipe, as in `millrace run | head`, from other output errors. */
function watch(how: 'on' | 'off', interrupt: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process[how](signal, interrupt)
  process.stdout[how]('error', interrupt)
}
