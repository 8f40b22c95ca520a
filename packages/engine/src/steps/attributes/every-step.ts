// Attributes of every kind of step: its key and label, its dependencies, and its conditions.

import { checkCondition } from '../../conditions/check.ts'
import type { SourceEntry } from '../../source.ts'
import type { Attributes } from '../read-attributes.ts'
import { readDependsOn } from './depends-on.ts'
import { readKey } from './key.ts'
import type { Report } from '../report.ts'
import type { Matrix, StepCommon } from '../types.ts'
import { readBoolean, readText, readTexts } from '../values.ts'

export const EVERY_STEP_NAMES = [
  'type',
  'key',
  'label',
  'name',
  'depends_on',
  'allow_dependency_failure',
  'if',
] as const
export const EVERY_STEP_ALIASES = { identifier: 'key', id: 'key' } as const

type EveryStepName = (typeof EVERY_STEP_NAMES)[number]

/**
 * `title` is the attribute that names the kind, when its value is a label, as in `block: "Ship?"`. With a matrix, the key may have
 * tokens.
 */
export function readEveryStep(
  attributes: Attributes<EveryStepName>,
  title: SourceEntry | undefined,
  report: Report,
  matrix: Matrix | null = null,
): StepCommon {
  const ownTitle = title && title.value.kind === 'scalar' ? readText(title, report) : null
  const label = readText(attributes.get('label'), report)
  const name = readText(attributes.get('name'), report)
  return {
    key: readKey(attributes.get('key'), matrix, report),
    label: ownTitle || label || name || null,
    dependsOn: readDependsOn(attributes.get('depends_on'), report),
    allowDependencyFailure: readBoolean(attributes.get('allow_dependency_failure'), report) ?? false,
    condition: readCondition(attributes.get('if'), report),
  }
}

/** Branch patterns, which cannot stand beside a condition. */
export function readBranches(
  attributes: Attributes<'branches' | 'if'>,
  condition: string | null,
  report: Report,
): string | null {
  const entry = attributes.get('branches')
  const patterns = (readTexts(entry, report) ?? []).flatMap((text) =>
    text.split(/\s+/).filter((part) => part !== ''),
  )
  if (entry && patterns.length > 0 && condition !== null) {
    report.problem(entry, '`if` and `branches` cannot be combined', {
      expected: 'the branch test as part of `if`, such as `build.branch == "main"`',
    })
  }
  return patterns.length > 0 ? patterns.join(' ') : null
}

function readCondition(entry: SourceEntry | undefined, report: Report): string | null {
  const source = readText(entry, report)
  if (!entry || source === null || source.trim() === '') return null
  const checked = checkCondition(source, 'step')
  if (!checked.ok) {
    const place = `at character ${checked.offset + 1}`
    report.problem(entry.value, `\`if\` is not a valid condition: ${checked.message} (${place})`)
  }
  return source
}
