import type { StatusApi } from '../host.ts'
import { contextOf, refusalIn, type StatusState } from '../status.ts'
import { apiPath } from './address.ts'
import { version } from './repositories.ts'

export const status: StatusApi = {
  requestFor(reported) {
    const { repository, commit, state, url, description } = reported
    return {
      path: `${apiPath(repository) ?? `/${encodeURIComponent(repository)}`}/commits/${commit}/statuses?${version}`,
      body: {
        state: states[state],
        description,
        targetUrl: url,
        context: { name: contextOf(reported) },
      },
    }
  },
  refusalIn,
}

const states: Readonly<Record<StatusState, string>> = {
  pending: 'pending',
  running: 'pending',
  success: 'succeeded',
  failure: 'failed',
  canceled: 'error',
  skipped: 'error',
}
