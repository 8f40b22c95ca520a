import { plainText } from '../log/screen/plain-text.ts'
import { urlsOf } from '../failure_summary/present.ts'
import { testWebUrl } from '../../tests/suites/present.ts'
import type { FoundSource } from './queries.ts'
import type { LogSearchHit } from './schema.ts'
import type { Hit } from './search.ts'

export function presentHit(root: string, orgSlug: string, { job, line, source }: Hit): LogSearchHit {
  const urls = urlsOf(root, orgSlug, job)
  const jobUrl = `${urls.page}#${job.job_id}`
  const { row, text, start, end } = line
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
    kind: source?.kind ?? 'log',
    row: source === null ? row : null,
    annotation: source?.kind === 'annotation' ? { id: source.id, context: plainText(source.name) } : null,
    test: source?.test_id ? presentTest(source, source.test_id) : null,
    text,
    start,
    end,
    web_url: source === null ? `${jobUrl}/L${row}` : webUrlOf(source, { root, orgSlug, page: urls.page }),
  }
}

const presentTest = ({ name, suite_slug }: FoundSource, id: string) => ({
  id,
  name: plainText(name),
  suite_slug,
})

function webUrlOf(
  { kind, id, test_id: testId, suite_slug: suite }: FoundSource,
  { root, orgSlug, page }: { root: string; orgSlug: string; page: string },
): string {
  if (kind === 'annotation') return `${page}?tab=annotations#annotation-${id}`
  return testId === null || suite === null ? `${page}?tab=tests` : testWebUrl(root, orgSlug, suite, testId)
}
