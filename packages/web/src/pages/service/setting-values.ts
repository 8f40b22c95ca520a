// The settings of a provider as a form has them, and as the API does.
import type { Setting } from '../services/queries.ts'

export type FormValue = string | boolean | readonly string[]
export type FormValues = Readonly<Record<string, FormValue>>

/** What the form shows of a value. One that is never shown begins empty. */
export function toForm({ kind }: Pick<Setting, 'kind'>, value: unknown): FormValue {
  switch (kind) {
    case 'switch':
      return value === true
    case 'choices':
      return Array.isArray(value) ? value.map(String) : []
    case 'map':
      return Object.entries((value ?? {}) as Record<string, string>)
        .map(([name, text]) => `${name}: ${text}`)
        .join('\n')
    case 'number':
    case 'text':
    case 'lines':
    case 'choice':
      return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
}

/** What the API gets; null: no value. */
export function fromForm({ kind }: Pick<Setting, 'kind'>, value: FormValue): unknown {
  if (typeof value !== 'string') return value
  if (value.trim() === '') return null
  if (kind === 'number') return Number(value)
  return kind === 'map' ? readLines(value) : value
}

/** `name: value`, one a line. What has no colon is a name without a value, which the API judges. */
function readLines(text: string): Record<string, string> {
  const pairs = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): [string, string] => {
      const at = line.indexOf(':')
      return at === -1 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    })
  return Object.fromEntries(pairs)
}

/** `stored`: the settings of the service; null for a new one. */
export const initialValues = (
  settings: readonly Setting[],
  stored: Readonly<Record<string, unknown>> | null,
): FormValues =>
  Object.fromEntries(
    settings.map((setting) => [
      setting.name,
      toForm(setting, stored === null ? setting.initial : stored[setting.name]),
    ]),
  )

const isSame = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right)

/** Whether requests would go somewhere else, so that secrets must be given again. */
export const isMoved = (settings: readonly Setting[], before: FormValues, now: FormValues): boolean =>
  settings.some((setting) => setting.is_address && !isSame(before[setting.name], now[setting.name]))

/** Whether the secret must be given again, and is not. */
export const isMissing = (setting: Setting, before: FormValues, now: FormValues): boolean =>
  setting.is_secret &&
  !setting.is_address &&
  setting.shown !== 'full' &&
  setting.is_required &&
  isSame(before[setting.name], now[setting.name])

/** Only what differs. A secret that was not given again goes nowhere else: it is removed. */
export function changedSettings(
  settings: readonly Setting[],
  before: FormValues,
  now: FormValues,
): Record<string, unknown> {
  const hasMoved = isMoved(settings, before, now)
  const changed: Record<string, unknown> = {}
  for (const setting of settings) {
    const value = now[setting.name] ?? ''
    if (!isSame(before[setting.name], value)) changed[setting.name] = fromForm(setting, value)
    else if (hasMoved && setting.shown === 'never' && !setting.is_required) changed[setting.name] = null
  }
  return changed
}
