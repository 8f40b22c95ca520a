/** For people: `512 B`, `3.4 MB`, `1.2 GB`. */
export function readableSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ''}`
}

export const readableCount = (count: number, one: string, several = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : several}`

export const secondsSince = (startMs: number): string =>
  `${((performance.now() - startMs) / 1000).toFixed(1)} s`
