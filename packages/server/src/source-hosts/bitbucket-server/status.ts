import type { StatusApi } from '../host.ts'
import { contextOf, refusalIn, type StatusState } from '../status.ts'
import { apiPath } from './address.ts'

export const status: StatusApi = {
  requestFor(reported) {
    const { repository, commit, state, url, description } = reported
    const key = contextOf(reported)
    return {
      path: `${apiPath(repository)}/commits/${commit}/builds`,
      body: { key, name: key, state: states[state], url, description },
    }
  },
  refusalIn,
}

const states: Readonly<Record<StatusState, string>> = {
  pending: 'INPROGRESS',
  running: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  canceled: 'CANCELLED',
  skipped: 'CANCELLED',
}
