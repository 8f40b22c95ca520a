import { Type } from 'typebox'
import { maybe, Short } from '../fields.ts'
import type { RepositoryApi } from '../host.ts'
import { repositoryReader, WebUrl, withQuery } from '../repositories.ts'

const Project = Type.Object({
  path_with_namespace: Short,
  web_url: WebUrl,
  http_url_to_repo: Short,
  default_branch: maybe(Short),
})

/** Of gitlab.com a token sees all public projects, so only those with a membership are listed. */
export const repositories: RepositoryApi = {
  listPath: ({ page, perPage, search }) =>
    withQuery('/projects', {
      membership: 'true',
      simple: 'true',
      order_by: 'path',
      sort: 'asc',
      search,
      per_page: perPage,
      page,
    }),
  findPath: (fullName) => `/projects/${encodeURIComponent(fullName)}`,
  ...repositoryReader(Project, null, (found) => ({
    full_name: found.path_with_namespace,
    html_url: found.web_url,
    clone_url: found.http_url_to_repo,
    default_branch: found.default_branch || null,
  })),
}
