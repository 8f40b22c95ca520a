// How the axes of charts look, and the round numbers that they may count by. Which of them fits is uPlot's choice.
import { readColor } from '../state-badge/tone-colors.ts'
import { roundSeconds } from '../time/durations.ts'

/** In the theme of now. */
export const axisLook = (element: HTMLElement) => ({
  stroke: readColor(element, 'muted'),
  grid: { stroke: readColor(element, 'border'), width: 1 },
  ticks: { show: false },
  font: `12px ${getComputedStyle(element).getPropertyValue('--font')}`,
})

export const wholeNumbers = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
)

const day = 86_400

export const roundDurations = [...roundSeconds, 2 * day, 7 * day, 30 * day]

/** `3,000`, `12K`: short, because an axis is narrow. */
export const showCount = (count: number): string =>
  count.toLocaleString(undefined, count < 10_000 ? {} : { notation: 'compact' })

const units = [
  { name: 'd', seconds: day },
  { name: 'h', seconds: 3600 },
  { name: 'min', seconds: 60 },
]

/** `0`, `30 s`, `5 min`, `1.5 h`: round durations in one unit. */
export function showRoundDuration(seconds: number): string {
  if (seconds === 0) return '0'
  const unit = units.find((each) => seconds >= each.seconds) ?? { name: 's', seconds: 1 }
  const count = (seconds / unit.seconds).toLocaleString(undefined, { maximumFractionDigits: 1 })
  return `${count} ${unit.name}`
}

/** Where a day begins its date, and else the clock. Without a zone, both are the reader's. */
export function showMoment(seconds: number, timeZone?: string): string {
  const time = new Date(seconds * 1000)
  const show = (options: Intl.DateTimeFormatOptions, locale?: string) =>
    time.toLocaleString(locale, { ...options, ...(timeZone === undefined ? {} : { timeZone }) })
  const clock = { hour: '2-digit', minute: '2-digit' } as const
  const isMidnight = show({ ...clock, hourCycle: 'h23' }, 'en-GB') === '00:00'
  return show(isMidnight ? { day: 'numeric', month: 'short' } : clock)
}
