import { describeProblem } from '@millrace/engine/problem.ts'
import { readStored } from '../../conductor/read-stored.ts'
import type { Owner } from '../../lib/holdings.ts'

/** Why a pipeline's configuration cannot be read. */
export async function problemsOf(configuration: string, owner: Owner): Promise<string[]> {
  const result = await readStored({ text: configuration }, { kind: 'upload', ...owner, until: null })
  return result.ok ? [] : result.problems.map(describeProblem)
}
