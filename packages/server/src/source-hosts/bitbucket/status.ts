import { createHash } from 'node:crypto'
import type { StatusApi } from '../host.ts'
import { contextOf, refusalIn, repositoryPath, type StatusState } from '../status.ts'

export const status: StatusApi = {
  requestFor(reported) {
    const { repository, commit, state, url, description } = reported
    const name = contextOf(reported)
    return {
      path: `/repositories/${repositoryPath(repository)}/commit/${commit}/statuses/build`,
      body: { key: keyOf(name), name, state: states[state], url, description },
    }
  },
  refusalIn,
}

/** Bitbucket takes keys of 40 characters at most. */
const keyOf = (name: string): string =>
  name.length <= 40 ? name : createHash('sha1').update(name).digest('hex')

const states: Readonly<Record<StatusState, string>> = {
  pending: 'INPROGRESS',
  running: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  canceled: 'STOPPED',
  skipped: 'STOPPED',
}
