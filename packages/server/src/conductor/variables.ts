// The variables that a stored configuration may be written with. The build does not exist yet when they are
// filled in, so its number and id are not among them.
import type { EnvLookup } from '@millrace/engine/expansion.ts'
import { withoutUserinfo } from '../lib/userinfo.ts'
import type { BuildRequest } from './create-build.ts'

interface Facts {
  organizationSlug: string
  pipeline: {
    id: string
    slug: string
    name: string
    repository: string
    env: Readonly<Record<string, string>>
  }
  build: Pick<
    BuildRequest,
    'branch' | 'tag' | 'message' | 'commit' | 'pullRequest' | 'hostEvent' | 'triggeredFrom' | 'env'
  >
}

export function storedVariables(facts: Facts): EnvLookup {
  const variables = listStoredVariables(facts)
  return (name) => variables.get(name)
}

export function listStoredVariables({
  organizationSlug,
  pipeline,
  build,
}: Facts): ReadonlyMap<string, string> {
  return new Map(
    Object.entries({
      ...pipeline.env,
      ...build.env,
      BUILDKITE_BRANCH: build.branch,
      BUILDKITE_TAG: build.tag ?? '',
      BUILDKITE_MESSAGE: build.message ?? '',
      BUILDKITE_COMMIT: build.commit,
      BUILDKITE_PIPELINE_SLUG: pipeline.slug,
      BUILDKITE_PIPELINE_NAME: pipeline.name,
      BUILDKITE_PIPELINE_ID: pipeline.id,
      BUILDKITE_ORGANIZATION_SLUG: organizationSlug,
      BUILDKITE_TRIGGERED_FROM_BUILD_PIPELINE_SLUG: build.triggeredFrom?.build_pipeline_slug ?? '',
      BUILDKITE_REPO: withoutUserinfo(build.pullRequest?.checkout ?? pipeline.repository),
      BUILDKITE_PULL_REQUEST: build.pullRequest?.id ?? 'false',
      BUILDKITE_PULL_REQUEST_BASE_BRANCH: build.pullRequest?.base ?? '',
      BUILDKITE_PULL_REQUEST_REPO: build.pullRequest?.repository ?? '',
      BUILDKITE_MERGE_QUEUE_BASE_BRANCH: build.hostEvent?.mergeQueue?.baseBranch ?? '',
      BUILDKITE_MERGE_QUEUE_BASE_COMMIT: build.hostEvent?.mergeQueue?.baseCommit ?? '',
    }),
  )
}
