// Updates attributes of a step while its build runs.
import { sql } from 'kysely'
import { sourceFromValue } from '@millrace/engine/source.ts'
import { readPipelineTree } from '@millrace/engine/steps/document.ts'
import type { NotifyEntry } from '@millrace/engine/steps/types.ts'
import { isUntrusted } from '../../conductor/trust.ts'
import type { Context } from '../../context.ts'
import { defer } from '../../db/batch.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { publishBuild } from '../../events/builds.ts'
import { refused } from '../../lib/errors.ts'
import { getStep, type DefinedStep } from './step-rows.ts'
import { requireTrust } from '../trust.ts'

interface StepUpdate {
  /** The same for a repeated request. */
  updateId: string
  attribute: string
  value: string
  /** Append to the current value, where there is one. */
  append: boolean
}

export async function updateStep(
  ctx: Context,
  organizationId: string,
  buildId: string,
  idOrKey: string,
  update: StepUpdate,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { id } = await getStep(trx, organizationId, buildId, idOrKey)
    await sql`select from build_steps where id = ${id} for no key update`.execute(trx)
    if (!(await isNew(trx, id, update.updateId))) return
    if (update.attribute === 'notify')
      await requireTrust(trx, { organizationId, buildId }, 'notify of their own')
    const step = await getStep(trx, organizationId, buildId, id)
    if (update.attribute === 'label') await keepStatusLabel(trx, organizationId, buildId, step)
    await updateAttribute(trx, step, update)
    if (update.attribute === 'label')
      await defer(trx, [
        publishBuild('build.steps_changed', organizationId, buildId, ctx.now().toISOString()),
      ])
  })
}

/** A fork could take a commit status that a step of the pipeline has by its label. */
async function keepStatusLabel(
  trx: Trx,
  organizationId: string,
  buildId: string,
  { id, uploaderId, definition }: DefinedStep,
): Promise<void> {
  if (uploaderId !== null || definition.statusLabel !== undefined) return
  if (await isUntrusted(trx, organizationId, [buildId]))
    await define(trx, id, 'statusLabel', definition.label)
}

async function isNew(trx: Trx, stepId: string, updateId: string): Promise<boolean> {
  const { rows } = await sql`
    insert into step_updates (id, step_id) values (${updateId}, ${stepId}) on conflict do nothing returning id`.execute(
    trx,
  )
  return rows.length > 0
}

async function updateAttribute(
  trx: Trx,
  step: DefinedStep,
  { attribute, value, append }: StepUpdate,
): Promise<void> {
  const { id, definition } = step
  switch (attribute) {
    case 'label': {
      const label = append ? `${definition.label ?? ''}${value}` : value
      if (label.length > 10_000) throw refused('A label may have at most 10000 characters.')
      await define(trx, id, 'label', label)
      await sql`update jobs set work = jsonb_set(work, '{label}', to_jsonb(${label}::text)) where step_id = ${id}`.execute(
        trx,
      )
      return
    }
    case 'priority': {
      if (!/^-?\d{1,9}$/.test(value)) throw refused('A priority is a whole number of at most 9 digits.')
      await define(trx, id, 'priority', Number(value))
      // A job that an agent has taken stays as it was.
      await sql`
        update jobs set priority = ${Number(value)} where step_id = ${id} and kind = 'script'
          and state in ('pending', 'waiting', 'blocked', 'limiting', 'limited', 'scheduled', 'reserved')`.execute(
        trx,
      )
      return
    }
    case 'notify': {
      const before = append && 'notify' in definition ? definition.notify : []
      await define(trx, id, 'notify', [...before, ...readNotify(value)])
      return
    }
    case 'parallelism':
      throw refused(
        'The parallelism of a step is settled when the step is made: upload another step instead.',
      )
    default:
      throw refused(`${attribute} cannot be changed; label, notify and priority can.`)
  }
}

async function define(trx: Trx, stepId: string, attribute: string, value: unknown): Promise<void> {
  await sql`
    update build_steps set definition = jsonb_set(definition, ${[attribute]}::text[], ${JSON.stringify(value)}::jsonb)
    where id = ${stepId}`.execute(trx)
}

/** As a step writes it, in JSON. */
function readNotify(text: string): readonly NotifyEntry[] {
  let notify: unknown
  try {
    notify = JSON.parse(text)
  } catch {
    throw refused('The value of notify must be JSON.')
  }
  const tree = sourceFromValue({
    steps: [{ command: 'true', notify: Array.isArray(notify) ? notify : [notify] }],
  })
  if (tree === null) throw refused('The value of notify nests too deeply.')
  const read = readPipelineTree(tree, { origin: 'upload' })
  const [step] = read.ok ? read.document.steps : []
  if (step?.kind === 'command') return step.notify
  throw refused(
    read.ok ? 'The value of notify cannot be read.' : read.problems.map(({ message }) => message).join('; '),
  )
}
