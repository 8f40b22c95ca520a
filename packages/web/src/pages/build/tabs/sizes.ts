const units = ['B', 'kB', 'MB', 'GB', 'TB']

/** `1.2 MB`, in steps of 1,000. */
export function formatSize(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}
