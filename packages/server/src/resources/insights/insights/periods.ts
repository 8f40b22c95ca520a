// The periods that insights are about, and the rollups that they are read from.
import type { Static } from 'typebox'
import type { Unit } from './fold.ts'
import type { Period as PeriodSchema } from './schema.ts'

type Period = Static<typeof PeriodSchema>

const hour = 60 * 60 * 1000
const msOf = { minute: 60 * 1000, hour, day: 24 * hour }

const rules: Readonly<Record<Period, { unit: Unit; units: number }>> = {
  '1h': { unit: 'minute', units: 60 },
  '24h': { unit: 'hour', units: 24 },
  '7d': { unit: 'hour', units: 7 * 24 },
  '30d': { unit: 'day', units: 30 },
}

/** Somewhat longer than two of the longest periods, so that each can be compared with the one before. */
export const keptHours: Readonly<Record<Unit, number>> = { minute: 3, hour: 15 * 24, day: 62 * 24 }

export interface Window {
  unit: Unit
  unitMs: number
  from: Date
  to: Date
}

/** The last whole units of UTC, with the one that is running. With `from`, those from there on. */
export function windowOf(period: Period, now: Date, from?: Date): Window {
  const { unit, units } = rules[period]
  const unitMs = msOf[unit]
  const floor = (time: Date) => Math.floor(time.getTime() / unitMs) * unitMs
  const start = from === undefined ? floor(now) - (units - 1) * unitMs : floor(from)
  return { unit, unitMs, from: new Date(start), to: new Date(start + units * unitMs) }
}
