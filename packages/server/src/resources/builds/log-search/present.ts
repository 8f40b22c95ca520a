import { plainText } from '../log/screen/plain-text.ts'
import { urlsOf } from '../failure_summary/present.ts'
import type { FoundRow } from './line-tasks.ts'
import type { JobOfHit } from './queries.ts'
import type { LogSearchHit } from './schema.ts'

export function presentHit(root: string, orgSlug: string, job: JobOfHit, found: FoundRow): LogSearchHit {
  const urls = urlsOf(root, orgSlug, job)
  const jobUrl = `${urls.page}#${job.job_id}`
  return {
    build: {
      id: job.build_id,
      number: job.number,
      pipeline_slug: job.pipeline_slug,
      branch: plainText(job.branch),
      created_at: job.created_at,
      url: urls.build,
      web_url: urls.page,
    },
    job: {
      id: job.job_id,
      name: job.name === null ? null : plainText(job.name),
      step_key: job.step_key,
      state: job.state,
      web_url: jobUrl,
    },
    ...found,
    web_url: `${jobUrl}/L${found.row}`,
  }
}
