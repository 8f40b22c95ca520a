import { sql } from 'kysely'
import { nearestName } from '@millrace/engine/nearest-name.ts'
import type { PipelineDocument, StepDefinition } from '@millrace/engine/steps/types.ts'
import type { Trx } from '../db/pool.ts'

const mostNamed = 10

/** Describes the keys that the documents depend on and no step of the build has; null: none. A later upload may add them. */
export async function describeUnknownKeys(
  trx: Trx,
  buildId: string,
  documents: readonly PipelineDocument[],
): Promise<string | null> {
  const refs = [...new Set(documents.flatMap(({ steps }) => steps.flatMap(refsOf)))]
  if (refs.length === 0) return null
  const { rows: unknown } = await sql<{ ref: string }>`
    select distinct ref from build_refs where build_id = ${buildId} and ref = any (${refs}::text[])
    order by ref limit ${mostNamed}`.execute(trx)
  if (unknown.length === 0) return null
  const { rows: known } = await sql<{ key: string }>`
    select key from build_steps where build_id = ${buildId} and key is not null`.execute(trx)
  const keys = known.map(({ key }) => key)
  return unknown.map(({ ref }) => describe(ref, nearestName(ref, keys))).join('\n')
}

const describe = (ref: string, near: string | null) =>
  `No step of the build has the key "${ref}" so far${near === null ? '.' : `; did you mean "${near}"?`}`

function refsOf(step: StepDefinition): string[] {
  const own = (step.dependsOn ?? []).map(({ ref }) => ref)
  return step.kind === 'group' ? [...own, ...step.steps.flatMap(refsOf)] : own
}
