// Lets the clock of a Node process be set while it runs: on SIGUSR2 it reads the difference from a file.

const code = `
  import { readFileSync } from 'node:fs'
  let difference = 0
  const Real = Date
  const now = () => Real.now() + difference
  globalThis.Date = class Date extends Real {
    constructor(...given) { given.length === 0 ? super(now()) : super(...given) }
    static now() { return now() }
  }
  process.on('SIGUSR2', () => { difference = Number(readFileSync(process.env.FAULTS_CLOCK, 'utf8')) })`

/** The environment of such a process. Timers and durations stay right, as they do when an operator sets a clock. */
export const skewable = (file: string): Record<string, string> => ({
  FAULTS_CLOCK: file,
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
})
