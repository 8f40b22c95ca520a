const UNITS = ['kB', 'MB', 'GB', 'TB']

/** Such as `812 B` or `1.4 MB`. */
export function describeBytes(bytes: number): string {
  let size = bytes
  let unit = 'B'
  for (const next of UNITS) {
    // Also where rounding would make 1000 of it.
    if (size < 999.5) break
    size /= 1000
    unit = next
  }
  return `${unit === 'B' || size >= 99.95 ? Math.round(size) : size.toFixed(1)} ${unit}`
}
