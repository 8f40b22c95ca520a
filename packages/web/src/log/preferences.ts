// How a reader likes logs. It stays in the browser.
import { timeForms, type TimeForm } from './rows/times.ts'

export interface Preferences {
  times: TimeForm
  isWrapped: boolean
}

const setting = 'millrace.log'

export function readPreferences(): Preferences {
  const isPhone = matchMedia('(max-width: 640px)').matches
  const stored = parse(localStorage.getItem(setting) ?? '{}')
  return {
    times: timeForms.find((form) => form === stored.times) ?? 'off',
    isWrapped: typeof stored.isWrapped === 'boolean' ? stored.isWrapped : isPhone,
  }
}

export const storePreferences = (preferences: Partial<Preferences>): void =>
  localStorage.setItem(
    setting,
    JSON.stringify({ ...parse(localStorage.getItem(setting) ?? '{}'), ...preferences }),
  )

function parse(text: string): { times?: unknown; isWrapped?: unknown } {
  try {
    return JSON.parse(text) as { times?: unknown }
  } catch {
    return {}
  }
}
