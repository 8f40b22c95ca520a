import { formatDuration } from '../../parts/time/durations.ts'

export const shownShare = (share: number | null): string =>
  share === null ? '–' : `${Math.floor(share * 1000) / 10} %`

export const shownSeconds = (seconds: number | null): string =>
  seconds === null ? '–' : seconds < 10 ? `${seconds.toFixed(2)} s` : formatDuration(seconds)
