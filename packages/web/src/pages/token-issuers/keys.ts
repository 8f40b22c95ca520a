// The keys of an issuer, as people paste them: a JWK Set, or one key.

interface PublicKeys {
  keys: Array<Record<string, unknown>>
}

const isKey = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** null: none are given. undefined: it cannot be read. */
export function readKeys(text: string): PublicKeys | null | undefined {
  if (text.trim() === '') return null
  try {
    const value: unknown = JSON.parse(text)
    if (!isKey(value)) return undefined
    const { keys = [value] } = value
    return Array.isArray(keys) && keys.length > 0 && keys.every(isKey) ? { keys } : undefined
  } catch {
    return undefined
  }
}

export const writeKeys = (keys: { keys: unknown } | null): string =>
  keys === null ? '' : JSON.stringify(keys, null, 2)
