import { refused } from '../../lib/errors.ts'
import type { RepositoryApi } from '../host.ts'
import { PlainRepository, presentPlain, repositoryReader, withQuery } from '../repositories.ts'
import { repositoryPath } from '../status.ts'

const apiOf = (path: string, key: string | null, sort: Readonly<Record<string, string>>): RepositoryApi => ({
  listPath({ page, perPage, search }) {
    if (search !== null) {
      throw refused(
        'GitHub cannot search the repositories of a connection; give one as repository=owner/name.',
      )
    }
    return withQuery(path, { per_page: perPage, page, ...sort })
  },
  findPath: (fullName) => `/repos/${repositoryPath(fullName)}`,
  ...repositoryReader(PlainRepository, key, presentPlain),
})

export const repositories = apiOf('/user/repos', null, { sort: 'full_name' })

/** Those that the installation of the App includes. */
export const appRepositories = apiOf('/installation/repositories', 'repositories', {})
