import { useNow } from './clock.ts'
import { formatDuration, formatExact, formatRelative } from './durations.ts'

/** A moment, relative to now. `at` is an ISO time or milliseconds. */
export function Time({ at }: { at: string | number }) {
  const nowMs = useNow()
  const timeMs = typeof at === 'number' ? at : Date.parse(at)
  return (
    <time dateTime={new Date(timeMs).toISOString()} title={formatExact(timeMs)}>
      {formatRelative(timeMs, nowMs)}
    </time>
  )
}

export const TimeOrNever = ({ at }: { at: string | null }) => (at === null ? 'Never' : <Time at={at} />)

const soonMs = 10_000

/** A moment that is expected. It is never in the past, for then it comes any moment. */
export function Expected({ at }: { at: string }) {
  const nowMs = useNow()
  const timeMs = Date.parse(at)
  return (
    <time dateTime={at} title={formatExact(timeMs)}>
      {timeMs - nowMs < soonMs ? 'any moment' : formatRelative(timeMs, nowMs)}
    </time>
  )
}

interface DurationProps {
  from: string | number | null
  to: string | number | null
  /** What it took before. */
  earlierSeconds?: number | null | undefined
}

/** From `from` to `to`, or to now while it goes on. */
export function Duration({ from, to, earlierSeconds }: DurationProps) {
  if (from === null) return <span aria-label="not started">–</span>
  const fromMs = toMs(from) - (earlierSeconds ?? 0) * 1000
  return to === null ? <Growing fromMs={fromMs} /> : <>{formatDuration((toMs(to) - fromMs) / 1000)}</>
}

function Growing({ fromMs }: { fromMs: number }) {
  const nowMs = useNow()
  return <>{formatDuration(Math.max(0, Math.floor((nowMs - fromMs) / 1000)))}</>
}

const toMs = (time: string | number) => (typeof time === 'number' ? time : Date.parse(time))
