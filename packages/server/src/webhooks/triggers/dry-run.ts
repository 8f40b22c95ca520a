import type { Static } from 'typebox'
import type { Context, RequestContext } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { ApiError, notFound } from '../../lib/errors.ts'
import { judge } from './judge.ts'
import * as triggers from '../../resources/pipelines/triggers/queries.ts'
import type { Armed } from '../../resources/pipelines/triggers/queries.ts'
import { mapPayload, type MappedBuild } from '../../resources/pipelines/triggers/rules.ts'
import type { DryRunResult } from '../../resources/pipelines/triggers/schema.ts'

type Result = Static<typeof DryRunResult>

/** Takes the transaction back with all that was tried. */
class Tried extends Error {
  readonly result: Result
  constructor(result: Result) {
    super('A dry run is taken back.')
    this.result = result
  }
}

/** Makes the build, says what came out, and takes it back, so that nothing is judged in another way than a delivery. */
export async function dryRun(
  { ctx, org }: Pick<RequestContext, 'ctx' | 'org'>,
  { pipeline, trigger: id }: { pipeline: string; trigger: string },
  payload: object,
): Promise<Result> {
  try {
    return await inTransaction(ctx.db, async (trx) => {
      const found = await triggers.findInPipeline(trx, org.id, pipeline, id)
      const trigger = found && (await triggers.lockArmed(trx, org.id, id))
      if (trigger === undefined) throw notFound('No trigger found')
      throw new Tried(await tryOut(trx, ctx, trigger, payload))
    })
  } catch (error) {
    if (error instanceof Tried) return error.result
    throw error
  }
}

async function tryOut(trx: Trx, ctx: Context, trigger: Armed, payload: object): Promise<Result> {
  let build: MappedBuild | null = null
  try {
    build = mapPayload(trigger, trigger.pipeline.default_branch, payload)
    const judged = await judge(trx, ctx, trigger, payload)
    return judged.kind === 'built'
      ? { would_build: true, status: 200, message: 'A build would be made.', build }
      : { would_build: false, status: 200, message: `No build would be made. ${judged.reason}`, build }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { would_build: false, status: error.status, message: error.message, build }
  }
}
