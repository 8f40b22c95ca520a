import { existsSync, readFileSync } from 'node:fs'

/** The peak memory of this process. getrusage also counts the process this one was forked from, so on Linux /proc is read instead. */
export function mostMegabytes(): number {
  const { maxRSS } = process.resourceUsage()
  const own = existsSync('/proc/self/status')
    ? /VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    : undefined
  return Number(own ?? maxRSS) / 1024
}
