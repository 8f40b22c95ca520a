// A yardstick for the speed of a machine at this moment.

/** The CPU time in milliseconds of JSON.parse of a mebibyte of lists. */
export function parseTime(): number {
  const text = `[${'[],'.repeat(350_000)}[]]`
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage()
    JSON.parse(text)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}
