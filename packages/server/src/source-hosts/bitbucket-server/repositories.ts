import type { RepositoryApi } from '../host.ts'
import { repositoryReader, withQuery } from '../repositories.ts'
import { apiPath, cloneAddress, nameOf, Repository } from './address.ts'

/** `workspace` is the key of a project. */
export const repositories: RepositoryApi = {
  listPath: ({ page, perPage, search, workspace }) =>
    withQuery('/repos', {
      name: search,
      projectkey: workspace,
      start: (page - 1) * perPage,
      limit: perPage,
    }),
  findPath: apiPath,
  ...repositoryReader(Repository, 'values', (found) => {
    const clone = cloneAddress(found, 'http') ?? cloneAddress(found, 'ssh')
    const web = found.links?.self?.[0]?.href ?? ''
    return clone === null || !/^https?:/.test(web)
      ? null
      : {
          full_name: nameOf(found),
          html_url: web.replace(/\/browse$/, ''),
          clone_url: clone,
          // The list does not say it.
          default_branch: null,
        }
  }),
}
