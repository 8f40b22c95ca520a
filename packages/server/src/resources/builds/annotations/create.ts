import type { Static } from 'typebox'
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Caller } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { withPlace, type WorkOwner } from '../../../lib/threads.ts'
import { renderAndStore } from './html.ts'
import { presentAnnotation } from './present.ts'
import * as annotations from './queries.ts'
import { mostBodyBytes, type Annotation, type CreateAnnotationBody } from './schema.ts'

export async function createAnnotation(
  ctx: Context,
  caller: Caller,
  owner: annotations.Owner,
  body: CreateAnnotationBody,
  work: WorkOwner,
): Promise<Static<typeof Annotation>> {
  // Taken before anything is written, so that a request is refused as a whole or not at all.
  return withPlace(work, async (place) => {
    const stored = await putAnnotation(ctx, caller, owner, body)
    return presentAnnotation(stored, await renderAndStore(ctx, owner, stored, place))
  })
}

function putAnnotation(ctx: Context, caller: Caller, owner: annotations.Owner, body: CreateAnnotationBody) {
  const context = body.context || 'default'
  return inTransaction(ctx.db, async (trx) => {
    const isFirst = ctx.isFirstWrite === null || (await ctx.isFirstWrite(trx))
    if (!isFirst) return annotations.getByContext(trx, owner, context)
    const { is_new, ...row } = await annotations.put(trx, owner, {
      id: newId(),
      context,
      style: body.style,
      priority: body.priority,
      body: body.body,
      append: body.append ?? false,
      writerJobId: owner.jobId,
    })
    if (Buffer.byteLength(row.body) > mostBodyBytes) throw validationFailed('body must have at most 1 MiB')
    await recordAudit(trx, byCaller(caller), {
      organizationId: owner.organizationId,
      type: is_new ? 'ANNOTATION_CREATED' : 'ANNOTATION_UPDATED',
      subject: { type: 'Annotation', uuid: row.id, name: context },
      data: { build_id: owner.buildId, job_id: owner.jobId, style: row.style, priority: row.priority },
    })
    return row
  })
}

export async function deleteAnnotation(
  ctx: Context,
  caller: Caller,
  owner: annotations.Owner,
  id: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const deleted = await annotations.deleteOf(trx, owner, id)
    if (deleted === undefined) throw notFound('No annotation found')
    await recordAudit(trx, byCaller(caller), {
      organizationId: owner.organizationId,
      type: 'ANNOTATION_DELETED',
      subject: { type: 'Annotation', uuid: id, name: deleted.context },
      data: { build_id: owner.buildId },
    })
  })
}
