export const views = {
  slowest: 'Slowest',
  flaky: 'Flaky',
  failing: 'Failed last',
  quarantined: 'In quarantine',
} as const

export type View = keyof typeof views

const isView = (text: unknown): text is View => typeof text === 'string' && Object.hasOwn(views, text)

interface SuiteSearch {
  list?: View
  /** A part of the name of a test. */
  q?: string
}

export const readSuiteSearch = ({ list, q }: Record<string, unknown>): SuiteSearch => ({
  ...(isView(list) && list !== 'slowest' ? { list } : {}),
  ...(typeof q === 'string' && q !== '' ? { q } : {}),
})
