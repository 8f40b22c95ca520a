import type { PullRequestApi } from '../host.ts'
import { pullReader, pullsPerPage } from '../pull-requests.ts'
import { withQuery } from '../repositories.ts'
import { repositoryPath } from '../status.ts'
import { PullRequest, pullOf } from './webhook.ts'

export const listedPulls: PullRequestApi = {
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(`/repositories/${repositoryPath(repository)}/pullrequests`, {
      state: 'OPEN',
      sort: '-updated_on',
      pagelen: pullsPerPage,
      page,
    }),
  }),
  readList: pullReader(PullRequest, 'values', (given) => ({
    number: String(given.id),
    pull: pullOf(given),
  })),
}
