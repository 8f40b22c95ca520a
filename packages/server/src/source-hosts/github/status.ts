import type { StatusApi } from '../host.ts'
import { retryAction } from './fields.ts'
import { checkNameOf, refusalIn, repositoryPath, type ReportedStatus, type StatusState } from '../status.ts'

export const status: StatusApi = {
  requestFor(reported) {
    const check = checkNameOf(reported.context)
    const path = `/repos/${repositoryPath(reported.repository)}`
    return check === null
      ? { ...commitStatus(reported), permissions: { statuses: 'write' } }
      : { path: `${path}/check-runs`, body: checkRun(check, reported), permissions: { checks: 'write' } }
  },
  refusalIn,
}

const states: Readonly<Record<StatusState, string>> = {
  pending: 'pending',
  running: 'pending',
  success: 'success',
  failure: 'failure',
  canceled: 'error',
  skipped: 'failure',
}

/** Also as Gitea and Forgejo take it. */
export const commitStatus = ({ repository, commit, state, url, description, context }: ReportedStatus) => ({
  path: `/repos/${repositoryPath(repository)}/statuses/${commit}`,
  body: { state: states[state], target_url: url, description, context },
})

const conclusions: Readonly<Partial<Record<StatusState, string>>> = {
  success: 'success',
  failure: 'failure',
  canceled: 'cancelled',
  skipped: 'neutral',
}

const retryFailed = {
  label: 'Retry failed jobs',
  description: 'Retries only the jobs that failed.',
  identifier: retryAction,
}

const mostAnnotations = 50
const longestOutput = 65_000

/** A new check replaces the one before of the same name. */
function checkRun(
  name: string,
  { commit, url, externalId, state, description, output = {} }: ReportedStatus,
): object {
  const conclusion = conclusions[state]
  const text = (value: unknown, usual: string) =>
    typeof value === 'string' && value.trim() !== '' ? value.slice(0, longestOutput) : usual
  const { annotations, text: more } = output
  return {
    name,
    head_sha: commit,
    details_url: url,
    ...(externalId === null ? {} : { external_id: externalId }),
    ...(conclusion === undefined ? { status: 'in_progress' } : { status: 'completed', conclusion }),
    ...(state === 'failure' ? { actions: [retryFailed] } : {}),
    output: {
      title: text(output.title, description),
      summary: text(output.summary, description),
      ...(typeof more === 'string' ? { text: more.slice(0, longestOutput) } : {}),
      ...(Array.isArray(annotations) ? { annotations: annotations.slice(0, mostAnnotations) } : {}),
    },
  }
}
