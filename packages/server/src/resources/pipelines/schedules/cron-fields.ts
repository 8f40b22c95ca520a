// The fields of a cron line: sets of numbers, and for days also the last of a month, its second Friday, or every third
// Monday.

export class CronError extends Error {}

export interface Field {
  name: string
  min: number
  max: number
  /** From `min` on. Their first three letters are enough. */
  names: readonly string[]
}

/** Whether a line runs on a date, given as its midnight in UTC. */
export type DayRule = (date: Date) => boolean

const weekdayField: Field = {
  name: 'day-of-week',
  min: 0,
  // Sunday is 0 and 7.
  max: 7,
  names: ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],
}

/** `1,15`, `9-17`, `22-2`, `0-30/10`, `5/20` and `*`, as a sorted list. */
export function readSet(text: string, field: Field): number[] {
  const values = text.split(',').flatMap((item) => readItem(item, field))
  return [...new Set(values)].sort((a, b) => a - b)
}

function readItem(item: string, field: Field): number[] {
  const { min } = field
  const max = field === weekdayField ? 6 : field.max
  const [range = '', stepText, ...more] = item.split('/')
  const [fromText = '', toText, ...rest] = range.split('-')
  if (more.length > 0 || rest.length > 0) throw wrong(item, field)
  const step = stepText === undefined ? 1 : readStep(stepText, item, field)
  const from = range === '*' ? min : readNumber(fromText, item, field)
  const isOpen = range === '*' || (toText === undefined && stepText !== undefined)
  const to = isOpen ? max : toText === undefined ? from : readNumber(toText, item, field)
  const all = from <= to ? span(from, to) : [...span(from, max), ...span(min, to)]
  const kept = all.filter((_, index) => index % step === 0)
  return field === weekdayField ? kept.map((day) => day % 7) : kept
}

const span = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)

function readNumber(text: string, item: string, field: Field): number {
  const { min, max, names } = field
  if (/^\d{1,2}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
  const word = text.toLowerCase()
  const index = names.findIndex((name) => word === name || (word.length === 3 && name.startsWith(word)))
  if (index === -1) throw wrong(item, field)
  return min + index
}

function readStep(text: string, item: string, field: Field): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) === 0) throw wrong(item, field)
  return Number(text)
}

const wrong = (item: string, { name, min, max }: Pick<Field, 'name' | 'min' | 'max'>) =>
  new CronError(
    `has "${item.slice(0, 40)}" as ${name}; expected ${min} to ${max}, or * or a list, range or step`,
  )

/** Where both fields are restricted, one match is enough, as in crontab; a `&` after one of them demands both. */
export function readDays(dom: string, dow: string): DayRule {
  const [isMonthDay, isWeekday] = [readMonthDays(dom.replace(/&$/, '')), readWeekdays(dow.replace(/&$/, ''))]
  const needsBoth = /^\*|&$/.test(dom) || /^\*|&$/.test(dow)
  return needsBoth
    ? (date) => isMonthDay(date) && isWeekday(date)
    : (date) => isMonthDay(date) || isWeekday(date)
}

const dayMs = 24 * 60 * 60 * 1000
const lengthOfMonth = (date: Date) =>
  new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
const anyOf =
  (rules: readonly DayRule[]): DayRule =>
  (date) =>
    rules.some((rule) => rule(date))

const readMonthDays = (text: string): DayRule => anyOf(text.split(',').map(readMonthDay))

/** Beside numbers `L`, the last day, and numbers counted from it: `-2-L` are the last two days. */
function readMonthDay(item: string): DayRule {
  const match = /^(?:\*|(-?\d{1,2}|l|last)(?:-(-?\d{1,2}|l|last))?)(?:\/(\d{1,2}))?$/i.exec(item)
  if (match === null) throw wrongDay(item)
  const [, fromText = '1', toText, stepText] = match
  const isOpen = item.startsWith('*') || (toText === undefined && stepText !== undefined)
  const from = readDay(fromText, item)
  const to = isOpen ? -1 : toText === undefined ? from : readDay(toText, item)
  const step = Number(stepText ?? 1)
  if (step === 0 || (from < 0 && to > 0)) throw wrongDay(item)
  return (date) => {
    const length = lengthOfMonth(date)
    const day = date.getUTCDate()
    const resolve = (value: number) => (value < 0 ? length + 1 + value : value)
    if (from === to) return day === resolve(from)
    const first = Math.max(1, resolve(from))
    const last = resolve(to)
    // `28-2` goes on into the next month.
    const isWrapped = from > 0 && to > 0 && from > to
    const isWithin = isWrapped ? day >= first || day <= last : day >= first && day <= last
    return isWithin && (day >= first ? day - first : day + length - first) % step === 0
  }
}

function readDay(text: string, item: string): number {
  const value = /^l/i.test(text) ? -1 : Number(text)
  if (value === 0 || Math.abs(value) > 31) throw wrongDay(item)
  return value
}

const wrongDay = (item: string) => wrong(item, { name: 'day-of-month', min: 1, max: 31 })

const readWeekdays = (text: string): DayRule => anyOf(text.split(',').map(readWeekday))

function readWeekday(item: string): DayRule {
  const nth = /^([^#]+)#(-?[1-5]|l|last)$/i.exec(item)
  if (nth !== null) return nthWeekday(readSet(nth[1] ?? '', weekdayField), nth[2] ?? '')
  const modulo = /^([^%]+)%(\d{1,3})(?:\+(\d{1,3}))?$/.exec(item)
  const days = readSet(modulo?.[1] ?? item, weekdayField)
  const isDay: DayRule = (date) => days.includes(date.getUTCDay())
  if (modulo === null) return isDay
  const [every, shift] = [Number(modulo[2]), Number(modulo[3] ?? 0)]
  if (every === 0) throw wrong(item, weekdayField)
  return (date) => isDay(date) && (weekNumber(date) + shift) % every === 0
}

/** The second of its kind in the month, or with a minus the second to last. */
function nthWeekday(days: readonly number[], text: string): DayRule {
  const nth = /^l/i.test(text) ? -1 : Number(text)
  return (date) => {
    const place = nth > 0 ? date.getUTCDate() : lengthOfMonth(date) - date.getUTCDate() + 1
    return days.includes(date.getUTCDay()) && Math.ceil(place / 7) === Math.abs(nth)
  }
}

/** Weeks are counted from the first day of 2019, a Tuesday, which is in week 1. */
const weekNumber = (date: Date) => Math.floor((date.getTime() - Date.UTC(2019, 0, 1)) / (7 * dayMs)) + 1
