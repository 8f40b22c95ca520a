// The secret values, and the encodings in which they may appear.

import { encodingsOf } from './encodings.ts'

export const REDACTED_VARIABLES = [
  '*_PASSWORD',
  '*_SECRET',
  '*_TOKEN',
  '*_PRIVATE_KEY',
  '*_SSH_KEY',
  '*_ACCESS_KEY',
  '*_SECRET_KEY',
  '*_CONNECTION_STRING',
  '*_API_KEY',
] as const

/** Shorter values would match too much of every log. */
const LEAST_BYTES = 6

/** Values of the variables whose names match one of the patterns. */
export function secretValues(
  env: Readonly<Record<string, string | undefined>>,
  patterns: readonly string[],
): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && patterns.some((pattern) => isNamed(name, pattern)) ? [value] : [],
  )
}

/** The bytes to look for: the value and each of its lines, in all their encodings. Empty for a short value. */
export function needlesOf(value: string): Buffer[] {
  const lines = value.split(/\r?\n/)
  const texts = new Set([value, value.trimEnd(), ...(lines.length > 1 ? lines : [])])
  const found = new Set<string>()
  for (const text of texts) {
    if (Buffer.byteLength(text) < LEAST_BYTES) continue
    found.add(text)
    for (const encoded of encodingsOf(text)) found.add(encoded)
  }
  return Array.from(found, (text) => Buffer.from(text))
}

function isNamed(name: string, pattern: string): boolean {
  return pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : name === pattern
}
