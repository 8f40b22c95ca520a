import { describeProblem } from '@millrace/engine/problem.ts'
import { readStored } from '../../conductor/read-stored.ts'

/** Why a pipeline's configuration cannot be read. */
export async function problemsOf(configuration: string): Promise<string[]> {
  const result = await readStored({ text: configuration })
  return result.ok ? [] : result.problems.map(describeProblem)
}
