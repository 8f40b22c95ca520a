// The server's instructions for one agent, from stream or polling. The latest instruction replaces earlier ones, except
// that a disconnect stays. Assigned jobs wait in order, even while the agent is paused.

export type Instruction =
  | { kind: 'idle' }
  | { kind: 'pause'; reason: string }
  | { kind: 'disconnect'; reason: string }
  | { kind: 'job'; jobId: string }

export interface Mailbox {
  put(instruction: Instruction): void
  take(): Instruction | null
  /** Ignores offers of a job that the agent has run. The server repeats offers until it knows who has the job. */
  ignoreJob(jobId: string): void
  readonly isPaused: boolean
  /** The next instruction, or the next `wake`. */
  changed(): Promise<void>
  wake(): void
}

export function createMailbox(): Mailbox {
  let latest: Instruction | null = null
  let isPaused = false
  const jobs: string[] = []
  let wakers: (() => void)[] = []

  function wake(): void {
    const waiting = wakers
    wakers = []
    for (const waker of waiting) waker()
  }

  return {
    put(instruction) {
      isPaused = instruction.kind === 'pause'
      if (instruction.kind === 'job') {
        if (!jobs.includes(instruction.jobId)) jobs.push(instruction.jobId)
      } else if (latest?.kind !== 'disconnect') latest = instruction
      wake()
    },
    take() {
      const jobId = jobs[0]
      if (jobId !== undefined && !isPaused && latest?.kind !== 'disconnect') {
        jobs.shift()
        return { kind: 'job', jobId }
      }
      const taken = latest
      latest = null
      return taken
    },
    ignoreJob(jobId) {
      const index = jobs.indexOf(jobId)
      if (index >= 0) jobs.splice(index, 1)
    },
    get isPaused() {
      return isPaused
    },
    changed: () =>
      new Promise((resolve) => {
        wakers.push(resolve)
      }),
    wake,
  }
}
