import { refused } from '../../../lib/errors.ts'
import { slugOf } from '../../pipelines/pipelines/rules.ts'
import type { SuiteFields } from './queries.ts'
import type { UpdateSuiteBody } from './schema.ts'

export const suiteFields = [
  'name',
  'slug',
  'default_branch',
  'emoji',
  'color',
  'application_name',
] as const satisfies ReadonlyArray<keyof SuiteFields>

/** The fields that a body sets, as columns. The slug follows from the name; an empty text is null. */
export function readFields({
  name,
  oidc_policy: policy,
  ...settings
}: UpdateSuiteBody): Partial<SuiteFields> {
  if (policy) throw refused('oidc_policy must be empty: results are sent with the token of the suite.')
  const given = Object.fromEntries(
    suiteFields.flatMap((field) => {
      const value = field === 'name' || field === 'slug' ? undefined : settings[field]
      return value === undefined ? [] : [[field, value || null]]
    }),
  )
  return name === undefined ? given : { ...given, name, slug: slugOf(name) }
}
