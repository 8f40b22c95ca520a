// Caches values that expire, such as access tokens of other services, until shortly before their expiry. Concurrent
// callers share one request for a new value.

export interface ExpiringCache<Value> {
  get(key: string, now: Date, make: () => Promise<Expiring<Value>>): Promise<Value>
  /** Removes a value that turned out to be invalid. */
  delete(key: string): void
}

export interface Expiring<Value> {
  value: Value
  endsAt: Date
}

export function expiringCache<Value>({
  marginMs,
  most,
}: {
  marginMs: number
  most: number
}): ExpiringCache<Value> {
  const known = new Map<string, Promise<Expiring<Value>>>()

  const isGood = ({ endsAt }: Expiring<Value>, now: Date) => endsAt.getTime() - marginMs > now.getTime()

  const add = (key: string, make: () => Promise<Expiring<Value>>) => {
    const made = make()
    known.set(key, made)
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
      // Another caller that waited for the same value may have replaced it.
      const current = known.get(key)
      if (current !== undefined && current !== before) return (await current).value
      known.delete(key)
      return (await add(key, make)).value
    },
    delete(key) {
      known.delete(key)
    },
  }
}
