import { sql } from 'kysely'
import type { StepRow } from '@millrace/engine/rows.ts'
import type { StepDefinition } from '@millrace/engine/steps/types.ts'
import { selectFields, stepColumns } from '../../conductor/rows.ts'
import type { Db } from '../../db/pool.ts'
import { notFound } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'

export type DefinedStep = StepRow & { definition: StepDefinition }

/** By its id or its key. */
export async function getStep(
  db: Db,
  organizationId: string,
  buildId: string,
  idOrKey: string,
): Promise<DefinedStep> {
  const { rows } = await sql<DefinedStep>`
    select ${selectFields('s', stepColumns)}, s.definition from build_steps s
    where s.organization_id = ${organizationId} and s.build_id = ${buildId}
      and (s.id = ${isUuid(idOrKey) ? idOrKey : null}::uuid or s.key = ${idOrKey})`.execute(db)
  const [step] = rows
  if (step === undefined) throw notFound('No step found')
  return step
}
