// Text that PostgreSQL cannot store: NUL characters and halves of surrogate pairs.

/** The path of the first such text in a JSON value, as `maintainers[0].user`. null: there is none. */
export function findUnstorable(value: unknown, path = ''): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : path || 'the body'
  if (typeof value !== 'object' || value === null) return null
  for (const [key, child] of Object.entries(value)) {
    if (!isStorable(key)) return path || 'a key'
    const found = findUnstorable(
      child,
      Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key,
    )
    if (found !== null) return found
  }
  return null
}

export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
