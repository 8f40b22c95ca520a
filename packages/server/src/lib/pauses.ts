// Who looks for work again and again looks often while there is some, and seldom when there has been none for seconds.

const growth = 1.1

/** Says how long to wait until the next look, by whether the last one found anything. */
export function pauses(leastMs: number, mostMs: number): (found: boolean) => number {
  let ms = leastMs
  return (found) => {
    ms = found ? leastMs : Math.min(ms * growth, mostMs)
    return ms
  }
}
