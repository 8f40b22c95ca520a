// The person and the screen in front of a run.
import { createInterface } from 'node:readline/promises'

export interface Terminal {
  write(text: string): void
  hasColor: boolean
  /** Somebody is there to answer. */
  isInteractive: boolean
  /** null: they have gone, or want the build to stop. */
  ask(question: string): Promise<string | null>
  /** Calls back whenever the person, or the system, wants the build to stop. Returns how to end that. */
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

/** A reader that went away, as in `millrace run | head`, is told from the screen's errors. */
function watch(how: 'on' | 'off', interrupt: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process[how](signal, interrupt)
  process.stdout[how]('error', interrupt)
}
