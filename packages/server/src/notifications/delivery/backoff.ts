/** How long after its nth failed attempt a delivery is tried again: 2 s, 6 s, 18 s, … and from the eighth on an hour. */
export function backoffMs(attempts: number, random: () => number = Math.random): number {
  const whole = Math.min(3_600_000, 2000 * 3 ** (attempts - 1))
  // A quarter more or less, so that what failed together does not come back together.
  return Math.round(whole * (0.75 + random() / 2))
}
