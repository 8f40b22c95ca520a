/** What happens at which time. The earliest comes out first. */
export class Events<What> {
  private readonly heap: Array<{ at: number; what: What }> = []

  add(at: number, what: What): void {
    const { heap } = this
    let place = heap.length
    heap.push({ at, what })
    while (place > 0) {
      const above = (place - 1) >> 1
      if (this.timeAt(above) <= at) break
      this.swap(place, above)
      place = above
    }
  }

  next(): { at: number; what: What } | undefined {
    const { heap } = this
    const [first] = heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return first
    heap[0] = last
    let place = 0
    for (;;) {
      const [left, right] = [2 * place + 1, 2 * place + 2]
      const least = this.timeAt(right) < this.timeAt(left) ? right : left
      if (this.timeAt(least) >= last.at) return first
      this.swap(place, least)
      place = least
    }
  }

  private timeAt(place: number): number {
    return this.heap[place]?.at ?? Infinity
  }

  private swap(a: number, b: number): void {
    const [one, other] = [this.heap[a], this.heap[b]]
    if (one === undefined || other === undefined) return
    this.heap[a] = other
    this.heap[b] = one
  }
}
