import { stepOutcomeOf } from '@millrace/engine/outcome.ts'
import type { StepRow } from '@millrace/engine/rows.ts'

export type BadgeStatus = 'passing' | 'failing' | 'unknown'

/** All steps of the name must have passed; where none has run, nothing can be said. */
export function statusOfSteps(steps: readonly StepRow[]): BadgeStatus {
  const outcomes = steps.map(stepOutcomeOf)
  if (outcomes.some((outcome) => outcome === 'hard_failed' || outcome === 'errored')) return 'failing'
  return outcomes.some((outcome) => outcome !== 'neutral') ? 'passing' : 'unknown'
}

export interface Look {
  isSquare: boolean
  colors: Record<BadgeStatus, string> & { label: string; labelText: string; statusText: string }
}

const plain = {
  passing: '3fb34f',
  failing: 'e5534b',
  unknown: '9f9f9f',
  label: '555555',
  labelText: 'ffffff',
  statusText: 'ffffff',
}

const themes: Readonly<Record<string, Look['colors']>> = {
  default: plain,
  github: { ...plain, passing: '2ea44f', failing: 'd73a49', unknown: '6a737d', label: '24292e' },
  dark: { ...plain, label: '1f2328' },
  light: { ...plain, label: 'eaeef2', labelText: '24292e' },
}

const places = ['passing', 'failing', 'unknown', 'label', 'labelText', 'statusText'] as const

/** Only the names above and hexadecimal colours of a query get into the image. */
export function readLook(style: string | undefined, theme: string | undefined): Look {
  const isSquare = style === 'square' || style === 'flat-square'
  const named = theme !== undefined && Object.hasOwn(themes, theme) ? themes[theme] : undefined
  const given = (theme ?? '').split(',').map((color) => color.trim().replace(/^#/, ''))
  const custom = Object.fromEntries(
    places.flatMap((place, index) => {
      const color = given[index] ?? ''
      return /^(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(color) ? [[place, color.toLowerCase()]] : []
    }),
  )
  return { isSquare, colors: named ?? { ...plain, ...custom } }
}
