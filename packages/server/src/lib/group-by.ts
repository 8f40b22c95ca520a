/** The groups in the order of their first items. Node 20 has no `Map.groupBy`. */
export function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, [T, ...T[]]> {
  const groups = new Map<string, [T, ...T[]]>()
  for (const item of items) {
    const name = key(item)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [item])
    else group.push(item)
  }
  return groups
}
