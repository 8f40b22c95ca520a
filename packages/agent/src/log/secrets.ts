// Which values must not be shown, and the ways in which they usually turn up.

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

/** Shorter values would black out half of every log. */
const LEAST_BYTES = 6
/** Where encoders break their lines. */
const BASE64_LINES = [64, 76]

/** Values of the variables whose names match one of the patterns. */
export function secretValues(
  env: Readonly<Record<string, string | undefined>>,
  patterns: readonly string[],
): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && patterns.some((pattern) => isNamed(name, pattern)) ? [value] : [],
  )
}

/** The bytes to look for: the value, each of its lines, and both in base64. Empty for a short value. */
export function needlesOf(value: string): Buffer[] {
  const lines = value.split(/\r?\n/)
  const texts = [value, value.trimEnd(), ...(lines.length > 1 ? lines : [])]
  const found = new Set<string>()
  for (const text of texts) {
    const bytes = Buffer.from(text)
    if (bytes.length < LEAST_BYTES) continue
    found.add(text)
    for (const encoded of base64Forms(bytes)) found.add(encoded)
  }
  return [...found].map((text) => Buffer.from(text))
}

function isNamed(name: string, pattern: string): boolean {
  return pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : name === pattern
}

function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64')
  const forms = [whole, whole.replace(/=+$/, ''), ...insideBase64(bytes)]
  for (const width of BASE64_LINES) {
    if (whole.length > width) forms.push(...(whole.match(new RegExp(`.{1,${width}}`, 'g')) ?? []))
  }
  const kept = forms.filter((form) => form.length >= LEAST_BYTES)
  return kept.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
}

/** The characters that stay the same wherever the value stands inside a longer text that is encoded as a whole. */
function insideBase64(bytes: Buffer): string[] {
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    const steadyFrom = [0, 2, 3][shift] ?? 0
    const steadyTo = Math.floor(((shift + bytes.length) * 8) / 6)
    return encoded.slice(steadyFrom, steadyTo)
  })
}
