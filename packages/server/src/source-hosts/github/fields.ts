// The fields that several payloads of GitHub have in common.
import { Type } from 'typebox'
import { cutMessage, maybe, Number, Short, Text } from '../fields.ts'

export const Repository = Type.Object({
  id: maybe(Number),
  full_name: maybe(Short),
  clone_url: maybe(Short),
  ssh_url: maybe(Short),
  owner: maybe(Type.Object({ login: maybe(Short) })),
})

/** The button that failed checks have besides GitHub's own. GitHub allows 20 characters. */
export const retryAction = 'retry_failed_jobs'

export const Person = Type.Object({ name: maybe(Text), email: maybe(Text) })
export const HeadCommit = Type.Object({ message: maybe(Text), author: maybe(Person) })

/** Variables of the build, for conditions and jobs. */
export function githubEnv(
  values: Readonly<Record<string, string | number | boolean | null | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [`BUILDKITE_GITHUB_${name}`, cutMessage(String(value)) ?? '']),
  )
}
