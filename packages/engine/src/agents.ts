/**
 * Whether an agent may run a job. Both sides are `key=value`; every rule must be met by some tag, and a rule
 * without a value, or with `*`, is met by any value of its key. The caller has already added the default queue
 * where none is named.
 */
export function matchesAgent(rules: readonly string[], tags: readonly string[]): boolean {
  const owned = tags.map(splitPair)
  return rules.map(splitPair).every(([key, value]) => {
    const acceptsAny = value === '' || value === '*'
    return owned.some(([tagKey, tagValue]) => tagKey === key && (acceptsAny || tagValue === value))
  })
}

/** Splits `key=value` at the first `=`; without one the value is empty. */
export function splitPair(pair: string): readonly [key: string, value: string] {
  const at = pair.indexOf('=')
  return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
}
