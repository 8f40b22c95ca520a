import { readPulls } from '../github/listed-pulls.ts'
import type { PullRequestApi } from '../host.ts'
import { pullsPerPage } from '../pull-requests.ts'
import { withQuery } from '../repositories.ts'
import { repositoryPath } from '../status.ts'

export const listedPulls: PullRequestApi = {
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(`/repos/${repositoryPath(repository)}/pulls`, {
      state: 'open',
      sort: 'recentupdate',
      limit: pullsPerPage,
      page,
    }),
  }),
  readList: readPulls,
}
