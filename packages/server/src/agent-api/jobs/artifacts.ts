// Files of jobs: announced in batches, reported when they have been sent, searched for by later jobs.
import {
  ArtifactBatchRequest,
  ArtifactStatesRequest,
  type ArtifactFile,
  type FoundArtifact,
} from '@millrace/protocol/artifacts.ts'
import { ok } from '../../http/answer.ts'
import { badRequest } from '../../lib/errors.ts'
import type { Context } from '../../context.ts'
import { createBatch } from '../../resources/builds/artifacts/create-batch.ts'
import * as artifacts from '../../resources/builds/artifacts/queries.ts'
import type { Found } from '../../resources/builds/artifacts/queries.ts'
import { reportStates } from '../../resources/builds/artifacts/report.ts'
import { searchPattern } from '../../resources/builds/artifacts/rules.ts'
import { fileUrl, searchSeconds } from '../../resources/builds/artifacts/tickets.ts'
import { readableBuild } from '../other-builds.ts'
import { agentRoute, done, lastOf } from '../route.ts'

const create = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/artifacts',
  token: 'job',
  forks: 'own_build',
  reach: 'build',
  bodyLimitBytes: 4 * 1024 * 1024,
  body: ArtifactBatchRequest,
  async handler({ ctx, job, params, body }) {
    const answer = await createBatch(ctx, job.organizationId, params['job'] ?? job.id, {
      id: body.id,
      destination: body.upload_destination ?? '',
      multipart: body.multipart_supported ?? false,
      files: body.artifacts.map((file) => ({
        path: file.path,
        absolute_path: file.absolute_path ?? '',
        file_size: file.file_size,
        sha1sum: file.sha1sum.toLowerCase(),
        sha256sum: file.sha256sum?.toLowerCase() || null,
        mime_type: file.content_type || 'application/octet-stream',
        external_url: publicAddress(file),
      })),
    })
    return ok(answer)
  },
})

/** Only addresses that a browser may open. */
function publicAddress({ url }: ArtifactFile): string | null {
  return url && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? url : null
}

const report = agentRoute({
  method: 'PUT',
  url: '/v3/jobs/:job/artifacts',
  token: 'job',
  forks: 'own_build',
  reach: 'build',
  bodyLimitBytes: 4 * 1024 * 1024,
  mostValues: 50_000,
  body: ArtifactStatesRequest,
  async handler({ ctx, job, params, body }) {
    await reportStates(ctx, job.organizationId, params['job'] ?? job.id, body.artifacts)
    return done()
  },
})

const search = agentRoute({
  method: 'GET',
  url: '/v3/builds/:build/artifacts/search',
  token: 'job',
  forks: 'own_build',
  async handler({ ctx, job, params, query }) {
    const wanted = lastOf(query['query']) ?? ''
    if (wanted.length > 1000) throw badRequest('The search pattern is too long.')
    const found = await artifacts.search(ctx.db, job.organizationId, {
      buildId: await readableBuild(ctx, job, params['build'], 'artifacts'),
      pattern: searchPattern(wanted),
      state: lastOf(query['state']) || null,
      scope: lastOf(query['scope']) || null,
      withRetried: isYes(lastOf(query['include_retried_jobs'])),
      withDuplicates: isYes(lastOf(query['include_duplicates'])),
    })
    return ok(found.map((artifact) => presentFound(ctx, artifact)))
  },
})

const isYes = (text: string | undefined) => text?.toLowerCase() === 'true' || text === '1'

const presentFound = (ctx: Context, artifact: Found): FoundArtifact => ({
  id: artifact.id,
  path: artifact.path,
  absolute_path: artifact.absolute_path,
  file_size: artifact.file_size,
  sha1sum: artifact.sha1sum,
  sha256sum: artifact.sha256sum ?? '',
  job_id: artifact.job_id,
  created_at: artifact.created_at,
  url:
    artifact.upload_destination === ''
      ? fileUrl(ctx, artifact.id, searchSeconds)
      : (artifact.external_url ?? ''),
  ...(artifact.upload_destination === '' ? {} : { upload_destination: artifact.upload_destination }),
  content_type: artifact.mime_type,
})

export const artifactApi = [create, report, search]
