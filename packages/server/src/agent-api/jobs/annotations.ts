// Notes that a job leaves on its build, or on itself.
import { sql } from 'kysely'
import type { Static } from 'typebox'
import { AnnotateRequest } from '@millrace/protocol/annotations.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound, refused } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { withPlace, type WorkOwner } from '../../lib/threads.ts'
import { renderAndStore } from '../../resources/builds/annotations/html.ts'
import * as annotations from '../../resources/builds/annotations/queries.ts'
import { mostBodyBytes } from '../../resources/builds/annotations/schema.ts'
import { agentRoute, done, lastOf } from '../route.ts'
import type { RunningJob } from '../tokens.ts'

const annotate = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/annotations',
  token: 'job',
  forks: 'own_build',
  reach: 'build',
  // A character of JSON may take six bytes for one of text.
  bodyLimitBytes: 7 * mostBodyBytes,
  body: AnnotateRequest,
  async handler({ ctx, job, params, body, request }) {
    if (!body.body && !body.style)
      throw refused('An annotation needs a body, or a style to give to the one there is.')
    const owner = ownerOf(job, params['job'], body.scope)
    const { organizationId, id: sender } = job
    const work: WorkOwner = { kind: 'upload', organizationId, sender, until: request.gone() }
    // Taken before anything is written: an agent sends a refused annotation again, and that may append.
    return withPlace(work, async (place) => {
      const written = await put(ctx, owner, body, job.id)
      await renderAndStore(ctx, owner, written, place)
      return done()
    })
  },
})

const put = (
  ctx: Context,
  owner: annotations.Owner,
  body: Static<typeof AnnotateRequest>,
  writerJobId: string,
) =>
  inTransaction(ctx.db, async (trx) => {
    const row = await annotations.put(trx, owner, {
      id: newId(),
      context: body.context || 'default',
      style: body.style || undefined,
      priority: body.priority || undefined,
      body: body.body ?? '',
      // Without a body, only the style changes.
      append: body.append || !body.body,
      writerJobId,
    })
    if (Buffer.byteLength(row.body) > mostBodyBytes) throw refused('An annotation may have at most 1 MiB.')
    return row
  })

const remove = agentRoute({
  method: 'DELETE',
  url: '/v3/jobs/:job/annotations/:context',
  token: 'job',
  forks: 'own_build',
  reach: 'build',
  async handler({ ctx, job, params, query }) {
    const owner = ownerOf(job, params['job'], lastOf(query['scope']))
    const { rows } = await sql`
      delete from annotations
      where organization_id = ${owner.organizationId} and build_id = ${owner.buildId} and context = ${params['context']}
        and job_id is not distinct from ${owner.jobId}::uuid returning id`.execute(ctx.db)
    if (rows.length === 0) throw notFound('No annotation found')
    return done()
  },
})

const ownerOf = (
  job: RunningJob,
  named: string | undefined,
  scope: string | null | undefined,
): annotations.Owner => ({
  organizationId: job.organizationId,
  buildId: job.buildId,
  jobId: scope === 'job' ? (named ?? job.id) : null,
})

export const annotationApi = [annotate, remove]
