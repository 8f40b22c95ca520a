import { processTerminal } from '../run/terminal.ts'

interface Interrupt {
  /** Aborted by Ctrl-C, by another request to end, and when nobody reads the output any longer. */
  signal: AbortSignal
  end(): void
}

export function interruptSignal(): Interrupt {
  const controller = new AbortController()
  const end = processTerminal().onInterrupt(() => controller.abort())
  return { signal: controller.signal, end }
}
