/** The candidate a person most likely meant, or null when none is near. */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  const wanted = normalize(name)
  const maxDistance = Math.max(1, Math.floor(wanted.length / 3))
  let best: { candidate: string; distance: number } | null = null
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) > maxDistance) continue
    const distance = editDistance(wanted, normalize(candidate))
    if (distance <= maxDistance && (!best || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate ?? null
}

function normalize(name: string): string {
  return name.slice(0, 60).toLowerCase().replaceAll('-', '_').replaceAll(' ', '_')
}

/** Insertions, deletions, replacements and swapped neighbours. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const swapped = isSwap ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        swapped,
      )
    }
    beforeLast = last
    last = current
  }
  return last[to.length] ?? 0
}
