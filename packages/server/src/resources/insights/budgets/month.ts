/** A calendar month of UTC. */
export interface Month {
  /** `2026-11`. */
  name: string
  /** `2026-11-01`. */
  firstDay: string
  from: string
  /** Where the next one begins. */
  to: string
}

export function monthOf(now: Date): Month {
  const start = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)).toISOString()
  return { name: start(0).slice(0, 7), firstDay: start(0).slice(0, 10), from: start(0), to: start(1) }
}
