// When a schedule runs: `minute hour day-of-month month day-of-week [time zone]`, or a word such as @daily.
//
// A line names local times of its zone. On the day the clock is put forward, a time that does not exist fires at the first
// moment after the gap; on the day it is put back, a time that comes twice fires the first time only. A line for every
// hour fires at each of the 25 or 23 hours of such a day.
import { Cron } from 'croner'
import { CronError, readDays, readSet, type DayRule, type Field } from './cron-fields.ts'

interface Cronline {
  minutes: readonly number[]
  /** null: every hour, however many the day has. */
  hours: readonly number[] | null
  months: ReadonlySet<number>
  isOn: DayRule
  zone: { name: string } | { offsetMinutes: number }
}

type ReadCronline = { ok: true; cronline: Cronline } | { ok: false; reason: string }

const presets: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}

const minuteField: Field = { name: 'minute', min: 0, max: 59, names: [] }
const hourField: Field = { name: 'hour', min: 0, max: 23, names: [] }
const monthField: Field = {
  name: 'month',
  min: 1,
  max: 12,
  names: [
    'january',
    'february',
    'march',
    'april',
    'may',
    'june',
    'july',
    'august',
    'september',
    'october',
    'november',
    'december',
  ],
}

const leastMinutesApart = 10

export function readCronline(text: string): ReadCronline {
  try {
    const cronline = parse(text)
    if (nextRun(cronline, new Date('2024-01-01T00:00:00Z')) === null)
      return refuse('names a day that never comes')
    return { ok: true, cronline }
  } catch (error) {
    if (error instanceof CronError) return refuse(error.message)
    throw error
  }
}

const refuse = (reason: string) => ({ ok: false as const, reason })

function parse(text: string): Cronline {
  const [first = '', ...rest] = text.trim().split(/\s+/)
  if (text.includes('~')) throw new CronError('must not contain "~": random times are not supported')
  const isWord = first.startsWith('@')
  const preset = Object.hasOwn(presets, first.toLowerCase()) ? presets[first.toLowerCase()] : undefined
  if (isWord && preset === undefined) {
    throw new CronError(`has "${first.slice(0, 40)}"; the words are ${Object.keys(presets).join(', ')}`)
  }
  const fields = preset === undefined ? [first, ...rest.slice(0, 4)] : preset.split(' ')
  const [zone, more] = preset === undefined ? rest.slice(4) : rest
  if (fields.length !== 5 || more !== undefined) {
    throw new CronError('must have five fields and may have a time zone after them')
  }
  const [minute = '', hour = '', dom = '', month = '', dow = ''] = fields
  const minutes = readSet(minute, minuteField)
  const hours = hour === '*' ? null : readSet(hour, hourField)
  refuseFrequent(minutes, hours)
  return {
    minutes,
    hours,
    months: new Set(readSet(month, monthField)),
    isOn: readDays(dom, dow),
    zone: readZone(zone ?? 'UTC'),
  }
}

function refuseFrequent(minutes: readonly number[], hours: readonly number[] | null): void {
  const everyHour = Array.from({ length: 24 }, (_, hour) => hour)
  const times = (hours ?? everyHour).flatMap((hour) => minutes.map((minute) => hour * 60 + minute))
  const [first = 0] = times
  const isFrequent = times.some(
    (time, index) => (times[index + 1] ?? first + 24 * 60) - time < leastMinutesApart,
  )
  if (isFrequent) throw new CronError(`must not run more often than every ${leastMinutesApart} minutes`)
}

function readZone(text: string): Cronline['zone'] {
  const offset = /^([+-])(\d\d):?(\d\d)$/.exec(text)
  if (offset !== null) {
    const [, sign, hours = '', minutes = ''] = offset
    const value = Number(hours) * 60 + Number(minutes)
    if (Number(minutes) < 60 && value <= 14 * 60) return { offsetMinutes: sign === '-' ? -value : value }
  } else if (text === 'Z' || text.toUpperCase() === 'UTC') {
    return { offsetMinutes: 0 }
  } else if (isZoneName(text)) {
    return { name: text }
  }
  throw new CronError(
    `has the unknown time zone "${text.slice(0, 60)}"; expected one such as Europe/Berlin or +02:00`,
  )
}

function isZoneName(text: string): boolean {
  // Some versions of Node read offsets here too, in more spellings than cron lines have.
  if (!/^[a-z]/i.test(text)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

const dayMs = 24 * 60 * 60 * 1000
// Weekdays come back to the same dates after 28 years, and after 40 around a century that has no leap day.
const mostDays = 41 * 366

/** The first time after the given moment; null when there is none. */
export const nextRun = (cronline: Cronline, after: Date): Date | null =>
  runsOfNextDay(cronline, after)[0] ?? null

/** The first times after the given moment, fewer when there are no more. */
export function nextRuns(cronline: Cronline, after: Date, count: number): Date[] {
  const runs: Date[] = []
  while (runs.length < count) {
    const more = runsOfNextDay(cronline, runs.at(-1) ?? after)
    if (more.length === 0) break
    runs.push(...more)
  }
  return runs.slice(0, count)
}

/** The times of the first day that has one after the given moment, in order; of a line by the hour only the first. */
function runsOfNextDay(cronline: Cronline, after: Date): Date[] {
  const today = localDay(cronline.zone, after)
  // A gap across midnight moves times to the next day, so yesterday counts too.
  for (let day = today - dayMs; day < today + mostDays * dayMs; day += dayMs) {
    const date = new Date(day)
    if (!cronline.months.has(date.getUTCMonth() + 1) || !cronline.isOn(date)) continue
    const runs = new Set(runsOn(cronline, date, after))
    if (runs.size > 0) return [...runs].sort((a, b) => a - b).map((time) => new Date(time))
  }
  return []
}

/** Those after the given moment, in no order; of a line by the hour only the first. */
function runsOn({ zone, minutes, hours }: Cronline, date: Date, after: Date): number[] {
  if ('offsetMinutes' in zone) {
    const start = date.getTime() - zone.offsetMinutes * 60_000
    const everyHour = Array.from({ length: 24 }, (_, hour) => hour)
    return (hours ?? everyHour)
      .flatMap((hour) => minutes.map((minute) => start + (hour * 60 + minute) * 60_000))
      .filter((time) => time > after.getTime())
  }
  const dawn = new Date(date.getTime() - 15 * 60 * 60_000)
  const find = (minute: string, hour: string, from: Date) => {
    const pattern = `${minute} ${hour} ${date.getUTCDate()} ${date.getUTCMonth() + 1} *`
    const found = new Cron(pattern, { timezone: zone.name, paused: true }).nextRun(from)?.getTime()
    // The same date of another year is not this day.
    return found !== undefined && found > after.getTime() && found < date.getTime() + 2 * dayMs ? [found] : []
  }
  if (hours === null) return find(minutes.join(','), '*', after > dawn ? after : dawn)
  return hours.flatMap((hour) => minutes.flatMap((minute) => find(String(minute), String(hour), dawn)))
}

/** The date that a clock of the zone shows, as midnight UTC of that date. */
function localDay(zone: Cronline['zone'], at: Date): number {
  if ('offsetMinutes' in zone) {
    return Math.floor((at.getTime() + zone.offsetMinutes * 60_000) / dayMs) * dayMs
  }
  return Date.parse(at.toLocaleDateString('sv-SE', { timeZone: zone.name }))
}
