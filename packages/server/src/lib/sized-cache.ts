/** Keeps the values that were used last, up to a sum of sizes. */
export class SizedCache<Key, Value> {
  private readonly entries = new Map<Key, { value: Value; size: number }>()
  private readonly mostSize: number
  private size = 0

  constructor(mostSize: number) {
    this.mostSize = mostSize
  }

  get(key: Key): Value | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    this.entries.delete(key)
    this.entries.set(key, entry)
    return entry.value
  }

  set(key: Key, value: Value, size: number): void {
    this.delete(key)
    if (size > this.mostSize) return
    this.entries.set(key, { value, size })
    this.size += size
    for (const oldest of this.entries.keys()) {
      if (this.size <= this.mostSize) break
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    this.size -= this.entries.get(key)?.size ?? 0
    this.entries.delete(key)
  }
}
