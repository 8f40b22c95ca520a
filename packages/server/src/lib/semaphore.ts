/** Limits how many calls run at once. Further calls wait in the order they arrived. */
export class Semaphore {
  private free: number
  private readonly waiting: Array<() => void> = []

  constructor(limit: number) {
    this.free = limit
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.free++
      else next()
    }
  }
}
