/** So many may work at once; the others wait for their turn, first come, first served. */
export class Turns {
  private free: number
  private readonly waiting: Array<() => void> = []

  constructor(atOnce: number) {
    this.free = atOnce
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
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
