// A value of a trigger as one line: `/ref` reads the payload, anything else is the value itself.
import type { Trigger } from './queries.ts'

type MappedValue = NonNullable<Trigger['branch']>

export const lineOf = (value: MappedValue | null): string => value?.pointer ?? value?.text ?? ''

export const isPointer = (line: string): boolean => line.startsWith('/')

export function valueOf(line: string, fallback: string): MappedValue | null {
  if (line === '') return null
  if (!isPointer(line)) return { text: line }
  return fallback === '' ? { pointer: line } : { pointer: line, default: fallback }
}

export const linesOf = (env: Trigger['env']): string =>
  Object.entries(env)
    .map(([name, value]) => `${name}=${lineOf(value)}`)
    .join('\n')

/** A variable whose line is as before keeps what its line does not show: its default. */
export const variablesOf = (
  lines: Readonly<Record<string, string>>,
  before: Trigger['env'],
): Record<string, MappedValue> =>
  Object.fromEntries(
    Object.entries(lines).map(([name, line]) => {
      const kept = before[name]
      if (kept !== undefined && lineOf(kept) === line) return [name, kept]
      return [name, valueOf(line, '') ?? { text: '' }]
    }),
  )
