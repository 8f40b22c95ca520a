import type { PullRequestApi } from '../host.ts'
import { pullReader, pullsPerPage } from '../pull-requests.ts'
import { repositoryPath } from '../status.ts'
import { apiPath } from './address.ts'
import { PullRequest, pullOf } from './pull-requests.ts'
import { version } from './repositories.ts'

export const listedPulls: PullRequestApi = {
  listRequest(repository, page) {
    const below = apiPath(repository) ?? `/${repositoryPath(repository)}`
    const wanted = `searchCriteria.status=active&$top=${pullsPerPage}&$skip=${(page - 1) * pullsPerPage}`
    return { method: 'GET', path: `${below}/pullrequests?${wanted}&${version}` }
  },
  readList: pullReader(PullRequest, 'value', (given) => ({
    number: String(given.pullRequestId),
    pull: pullOf(given),
  })),
}
