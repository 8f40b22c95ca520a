import type { PullRequestApi } from '../host.ts'
import { pullReader, pullsPerPage } from '../pull-requests.ts'
import { withQuery } from '../repositories.ts'
import { repositoryPath } from '../status.ts'
import { PullRequest, pullOf } from './pull-requests.ts'

/** Those of Gitea are the same. */
export const readPulls = pullReader(PullRequest, null, (given) => ({
  number: String(given.number),
  pull: pullOf(given),
}))

export const listedPulls: PullRequestApi = {
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(`/repos/${repositoryPath(repository)}/pulls`, {
      state: 'open',
      sort: 'updated',
      direction: 'desc',
      per_page: pullsPerPage,
      page,
    }),
    permissions: { pull_requests: 'read' },
  }),
  readList: readPulls,
}
