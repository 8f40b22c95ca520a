interface Uses {
  /** Such as 2026-01-02. */
  day: string
  hits: number
  misses: number
}

const shownDays = 30
const dayMs = 86_400_000

/** How many jobs of the last 30 days found a cache; null: none asked for one. */
export function describeHitRate(uses: readonly Uses[], now: number): string | null {
  const first = new Date(now - shownDays * dayMs).toISOString().slice(0, 10)
  const recent = uses.filter(({ day }) => day > first)
  const sum = (count: (uses: Uses) => number) => recent.reduce((total, each) => total + count(each), 0)
  const hits = sum((each) => each.hits)
  const asked = hits + sum((each) => each.misses)
  if (asked === 0) return null
  // "100 %" is said only of all, and "none" only of none.
  const percent = hits === asked ? 100 : Math.min(99, Math.ceil((100 * hits) / asked))
  const times = asked === 1 ? 'Once a job' : `${asked.toLocaleString()} times jobs`
  const found = hits === 0 ? 'found none' : `found one ${percent} % of the time`
  return `${times} asked for a cache in the last ${shownDays} days, and ${found}.`
}
