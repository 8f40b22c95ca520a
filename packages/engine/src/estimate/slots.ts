// When a job gets its slot of a concurrency group.

interface GroupNow {
  limit: number
  /** For each job that holds a slot: the seconds until it ends, each as likely as the others. */
  holders: ReadonlyArray<readonly number[]>
  /** For each job that comes first: the seconds that it may take. */
  ahead: ReadonlyArray<readonly number[]>
}

/** So many possible times, in seconds; null: the end of a job that comes first is not known. */
export function slotTimes(
  { limit, holders, ahead }: GroupNow,
  random: () => number,
  count: number,
): number[] | null {
  if ([...holders, ...ahead].some((lengths) => lengths.length === 0)) return null
  const draw = (lengths: readonly number[]) => lengths[Math.floor(random() * lengths.length)] ?? 0
  return Array.from({ length: count }, () => {
    // The times when the slots are free again, earliest first. Where the limit was lowered, more jobs hold slots than there are.
    const slots = holders.map(draw).sort((a, b) => a - b)
    const free = Math.max(0, limit - slots.length)
    const frees = [
      ...Array.from({ length: free }, () => 0),
      ...slots.slice(Math.max(0, slots.length - limit)),
    ]
    for (const lengths of ahead) {
      const at = frees.shift() ?? 0
      frees.push(at + draw(lengths))
      frees.sort((a, b) => a - b)
    }
    return frees[0] ?? 0
  })
}
