/** After how many days a token may expire. */
export const lifetimes = [7, 30, 90, 365]

/** `days`: none means never. */
export const expiryAfter = (days: string, nowMs: number): string | null =>
  days === '' ? null : new Date(nowMs + Number(days) * 86_400_000).toISOString()
