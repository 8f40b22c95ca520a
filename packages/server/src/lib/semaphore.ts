/** Limits how many calls run at once. Further calls wait in the order they arrived. */
export class Semaphore {
  private readonly limit: number
  private free: number
  private readonly waiting: Array<{ weight: number; start: () => void }> = []

  constructor(limit: number) {
    this.limit = limit
    this.free = limit
  }

  /** A call counts as `weight` calls. One that is heavier than the limit runs alone. */
  async run<T>(work: () => Promise<T>, weight = 1): Promise<T> {
    const taken = Math.min(weight, this.limit)
    if (this.waiting.length === 0 && this.free >= taken) this.free -= taken
    else await new Promise<void>((start) => this.waiting.push({ weight: taken, start }))
    try {
      return await work()
    } finally {
      this.free += taken
      this.startWaiting()
    }
  }

  private startWaiting(): void {
    for (let next = this.waiting[0]; next !== undefined && next.weight <= this.free; next = this.waiting[0]) {
      this.waiting.shift()
      this.free -= next.weight
      next.start()
    }
  }
}
