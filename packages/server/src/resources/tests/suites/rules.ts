import { refused } from '../../../lib/errors.ts'
import { slugOf } from '../../pipelines/pipelines/rules.ts'
import type { SuiteFields } from './queries.ts'
import type { UpdateSuiteBody } from './schema.ts'

const settings = ['default_branch', 'emoji', 'color', 'application_name'] as const

const rules = [
  'flaky_on_same_commit',
  'flaky_transitions',
  'flaky_window',
  'flaky_clear_days',
  'flaky_clear_executions',
  'quarantine_rule',
  'quarantine_days',
] as const

export const suiteFields = ['name', 'slug', ...settings, ...rules] as const satisfies ReadonlyArray<
  keyof SuiteFields
>

/** The fields that a body sets, as columns. The slug follows from the name; an empty text is null. */
export function readFields({ name, oidc_policy: policy, ...body }: UpdateSuiteBody): Partial<SuiteFields> {
  if (policy) throw refused('oidc_policy must be empty: results are sent with the token of the suite.')
  const given = Object.fromEntries([
    ...settings.flatMap((field) => (body[field] === undefined ? [] : [[field, body[field] || null]])),
    ...rules.flatMap((field) => (body[field] === undefined ? [] : [[field, body[field]]])),
  ])
  return name === undefined ? given : { ...given, name, slug: slugOf(name) }
}
