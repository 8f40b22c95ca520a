/** Processor time, which other processes on a busy machine do not lengthen. */
export function cpuMilliseconds(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
