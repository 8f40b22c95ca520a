// Polling intervals: short while there is work, and growing while there is none.

const growth = 1.1

/** Returns the time to the next poll, given how much work the last one found. */
export function pollInterval(leastMs: number, mostMs: number): (found: number) => number {
  let ms = leastMs
  return (found) => {
    ms = found > 0 ? leastMs : Math.min(ms * growth, mostMs)
    return ms
  }
}
