const PREFIX = 'BUILDKITE_'

/** The only variables of the service that are known before a job runs. */
const READABLE = new Set([
  'BRANCH',
  'TAG',
  'MESSAGE',
  'COMMIT',
  'PIPELINE_SLUG',
  'PIPELINE_NAME',
  'PIPELINE_ID',
  'ORGANIZATION_SLUG',
  'TRIGGERED_FROM_BUILD_ID',
  'TRIGGERED_FROM_BUILD_NUMBER',
  'TRIGGERED_FROM_BUILD_PIPELINE_SLUG',
  'TRIGGERED_FROM_BUILD_JOB_ID',
  'REBUILT_FROM_BUILD_ID',
  'REBUILT_FROM_BUILD_NUMBER',
  'REPO',
  'PULL_REQUEST',
  'PULL_REQUEST_BASE_BRANCH',
  'PULL_REQUEST_REPO',
  'PULL_REQUEST_USING_MERGE_REFSPEC',
  'MERGE_QUEUE_BASE_BRANCH',
  'MERGE_QUEUE_BASE_COMMIT',
  'GIT_DIFF_BASE',
  'GITHUB_ACTION',
  'GITHUB_COMMENT_ID',
  'GITHUB_DEPLOYMENT_ID',
  'GITHUB_DEPLOYMENT_TASK',
  'GITHUB_DEPLOYMENT_ENVIRONMENT',
  'GITHUB_DEPLOYMENT_PAYLOAD',
  'GITHUB_EVENT',
  'GITHUB_REVIEW_ID',
  'GITHUB_REVIEW_STATE',
  'GITHUB_CHECK_RUN_NAME',
  'GITHUB_CHECK_RUN_CONCLUSION',
  'GITHUB_DEPLOYMENT_STATUS_STATE',
  'GITHUB_DEPLOYMENT_STATUS_ENVIRONMENT',
  'GITHUB_RELEASE_TAG',
  'GITHUB_RELEASE_DRAFT',
  'GITHUB_RELEASE_PRERELEASE',
])

/** Null when a condition may read the variable, otherwise why not. */
export function refuseEnvName(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `"${name}" is not the name of a variable`
  if (!name.startsWith(PREFIX) || READABLE.has(name.slice(PREFIX.length))) return null
  return `${name} is not known to conditions, because they are decided before a job runs`
}
