import type { RepositoryApi } from '../host.ts'
import { PlainRepository, presentPlain, repositoryReader, withQuery } from '../repositories.ts'
import { repositoryPath } from '../status.ts'

/** The host shortens pages to its MAX_RESPONSE_ITEMS, 50 unless its operator changes it. */
export const repositories: RepositoryApi = {
  listPath: ({ page, perPage, search }) =>
    withQuery('/repos/search', { q: search, sort: 'alpha', order: 'asc', limit: perPage, page }),
  findPath: (fullName) => `/repos/${repositoryPath(fullName)}`,
  ...repositoryReader(PlainRepository, 'data', presentPlain),
}
