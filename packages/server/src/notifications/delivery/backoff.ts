/** The pause after the nth failed attempt: 2 s, 6 s, 18 s, … and from the eighth on an hour. */
export function backoffMs(attempts: number, random: () => number = Math.random): number {
  const whole = Math.min(3_600_000, 2000 * 3 ** (attempts - 1))
  // Jitter of a quarter, so that deliveries that failed at once are not retried at once.
  return Math.round(whole * (0.75 + random() / 2))
}
