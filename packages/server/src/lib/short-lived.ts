// Remembers what is made elsewhere and ends by itself, until shortly before its end. Of several who ask at once, one has it
// made. What nobody remembers is made again, so nothing depends on it.

export interface ShortLived<Value> {
  get(key: string, now: Date, make: () => Promise<Lasting<Value>>): Promise<Value>
  /** It turned out to be no good. */
  forget(key: string): void
}

export interface Lasting<Value> {
  value: Value
  endsAt: Date
}

export function shortLived<Value>({ marginMs, most }: { marginMs: number; most: number }): ShortLived<Value> {
  const known = new Map<string, Promise<Lasting<Value>>>()

  const isGood = ({ endsAt }: Lasting<Value>, now: Date) => endsAt.getTime() - marginMs > now.getTime()

  const add = (key: string, make: () => Promise<Lasting<Value>>) => {
    const made = make()
    known.set(key, made)
    // The oldest goes first.
    for (const oldest of known.keys()) {
      if (known.size <= most) break
      known.delete(oldest)
    }
    made.catch(() => {
      if (known.get(key) === made) known.delete(key)
    })
    return made
  }

  return {
    async get(key, now, make) {
      const before = known.get(key)
      const found = before && (await before)
      if (found !== undefined && isGood(found, now)) return found.value
      // Others may have waited for the same one, and found the same.
      const current = known.get(key)
      if (current !== undefined && current !== before) return (await current).value
      known.delete(key)
      return (await add(key, make)).value
    },
    forget(key) {
      known.delete(key)
    },
  }
}
