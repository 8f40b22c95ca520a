import type { PullRequestApi } from '../host.ts'
import { pullReader, pullsPerPage } from '../pull-requests.ts'
import { withQuery } from '../repositories.ts'
import { apiPath } from './address.ts'
import { PullRequest, pullOf } from './pull-requests.ts'

export const listedPulls: PullRequestApi = {
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(`${apiPath(repository)}/pull-requests`, {
      state: 'OPEN',
      order: 'NEWEST',
      limit: pullsPerPage,
      start: (page - 1) * pullsPerPage,
    }),
  }),
  readList: pullReader(PullRequest, 'values', (given) => ({
    number: String(given.id),
    pull: pullOf(given),
  })),
}
